/** Starts the server as a process of its own, asks what it weighs, and knows whether it still lives. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build, type TestServerOptions } from "./test-server.ts";

/** `stir` writes so many resources of the memory anew. */
export type ToServer = "weigh" | "close" | { readonly stir: number };

export interface Weight {
  readonly rss: number;
  /** Bytes that are reachable, on the heap and off it. */
  readonly held: number;
  readonly buffers: number;
  readonly sessions: number;
  readonly streams: number;
}

export type FromServer = { readonly port: number; readonly base: string } | { readonly stirred: number } | Weight;

export interface ServerProcess extends AsyncDisposable {
  readonly folder: string;
  readonly base: string;
  readonly port: number;
  readonly pid: number;
  /** What is still held after all that can be freed has been. */
  weigh(): Promise<Weight>;
  /** Writes the first so many of the resources that `stirredAt` names anew, and creates those there are not. */
  stir(count: number): Promise<void>;
  readonly alive: boolean;
  /** What it wrote to standard error. */
  readonly said: string;
}

/** Where the memory holds the resource that is stirred as this one; long, so that a notice of it weighs something. */
export function stirredAt(number: number): string {
  return `stirred/${number}-${"x".repeat(3000)}.txt`;
}

export const megabyte = 1024 * 1024;

export async function startServerProcess(options: TestServerOptions = {}): Promise<ServerProcess> {
  const { above, folder } = await build();
  const child = fork(join(import.meta.dirname, "served.ts"), [folder, JSON.stringify(options)], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const { port, base } = await hear<{ port: number; base: string }>(child);
  return {
    folder,
    base,
    port,
    pid: child.pid ?? 0,
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    get said() {
      return said;
    },
    async stir(count) {
      const stirred = hear(child);
      child.send({ stir: count } satisfies ToServer);
      await stirred;
    },
    weigh() {
      const weight = hear<Weight>(child);
      child.send("weigh" satisfies ToServer);
      return weight;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        child.send("close" satisfies ToServer);
        await gone;
      }
      await rm(above, { recursive: true, force: true });
    },
  };
}

async function hear<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const died = once(child, "exit", { signal }).then(([code, why]) => {
    throw new Error(`the house died: ${String(code ?? why)}`);
  });
  died.catch(() => undefined);
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), died]);
    return message as T;
  } finally {
    over.abort();
  }
}
