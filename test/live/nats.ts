/** A real NATS server with JetStream for tests: Debian's nats-server, on a loopback port; gone afterwards. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface NatsServer {
  readonly port: number;
  readonly folder: string;
  /** Ends as in a crash; resolves when it is gone. What it stored stays. */
  kill(): Promise<void>;
  /** Resolves once it accepts connections. */
  start(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Afterwards nothing runs, and nothing is left on the disk. */
  close(): Promise<void>;
}

/** Why there is no server, as a sentence. Where everything must run, starting it fails instead. */
export function natsMissing(): string | undefined {
  if ("CI" in process.env) return undefined;
  try {
    execFileSync("nats-server", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "needs NATS (apt-get install nats-server)";
  }
}

/** `config` is added to the server's config file; FOLDER in it becomes the folder of the server. */
export async function startNats(config = "", files: Readonly<Record<string, string>> = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-nats-"));
  const port = await unusedPort();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
  writeFileSync(
    join(folder, "nats.conf"),
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(folder, "store")}" }\n${config.replaceAll("FOLDER", folder)}\n`,
  );
  let running: ChildProcess | undefined;

  async function start(): Promise<void> {
    const child = spawn("nats-server", ["-c", join(folder, "nats.conf")], { stdio: ["ignore", "ignore", "pipe"] });
    running = child;
    let log = "";
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", () => reject(new Error(`nats-server did not start: ${log}`)));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        log = (log + text).slice(-4000);
        if (log.includes("Server is ready")) resolve();
      });
    });
  }

  async function kill(): Promise<void> {
    const child = running;
    running = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  try {
    await start();
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
  return {
    port,
    folder,
    start,
    kill,
    signal: (signal) => void running?.kill(signal),
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function unusedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { readonly port: number };
      probe.close(() => resolve(port));
    });
  });
}
