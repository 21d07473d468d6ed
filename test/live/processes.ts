/** Processes of real components: free ports, the moment they are ready, and their end. */
import type { ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  await gone;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves when it writes this into its log, and rejects if it ends before. */
export function untilSaid(what: string, child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`it ended with ${code} and never said ${what}: ${said.slice(-2000)}`)),
    );
    for (const output of [child.stdout, child.stderr])
      output?.setEncoding("utf8").on("data", (piece: string) => {
        said = (said + piece).slice(-10_000);
        if (said.includes(what)) resolve();
      });
  });
}
