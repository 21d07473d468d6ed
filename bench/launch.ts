/** Starts a contestant as a process of its own and knows when it can be asked. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Contestant, Stand, Transport } from "./contestants.ts";

export interface Running {
  readonly contestant: Contestant;
  readonly pid: number;
  readonly child: ChildProcessWithoutNullStreams;
  /** Absent over stdio. */
  readonly http?: { readonly port: number; readonly path: string };
  /** Sent with every request over HTTP. */
  readonly token?: string;
  stop(): Promise<void>;
}

const patienceMs = 30_000;

/** Resolves when an HTTP contestant has said where it listens; over stdio, as soon as there is a process. */
export async function launch(
  contestant: Contestant,
  transport: Transport,
  place: Omit<Stand, "port">,
): Promise<Running> {
  const port = await freePort();
  const { program = process.execPath, args, env, cwd, token } = contestant.command(transport, { ...place, port });
  const child = spawn(program, [...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  let said = "";
  const closed = once(child, "close");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), 3000);
    await closed;
    clearTimeout(force);
  };
  // Whoever was stopped in the middle of a write has nothing to tell us.
  child.stdin.on("error", () => {});
  const running = { contestant, pid: child.pid ?? 0, child, token, stop };
  child.stderr.setEncoding("utf8");
  if (transport === "stdio") {
    child.stderr.resume();
    return running;
  }
  const http = await new Promise<{ port: number; path: string }>((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`${contestant.name} ${why}: ${said.slice(-2000)}`));
    };
    const timer = setTimeout(() => fail("did not say where it listens"), patienceMs);
    const hear = (chunk: string) => {
      said += chunk;
      const url = /https?:\/\/(?:127\.0\.0\.1|localhost|\[::1?\]|0\.0\.0\.0):(\d+)(?=[\s/])(\/[\w/-]*)?/.exec(said);
      const bound = url?.[1] ?? /listening on port (\d+)\s/i.exec(said)?.[1];
      if (bound === undefined) return;
      clearTimeout(timer);
      resolve({ port: Number(bound), path: url?.[2] ?? "/mcp" });
    };
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => fail("ended"));
  }).catch(async (cause: unknown) => {
    await stop();
    throw cause;
  });
  child.stdout.removeAllListeners("data").resume();
  child.stderr.removeAllListeners("data").resume();
  return { ...running, http };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
