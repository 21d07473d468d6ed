/** The built command as a process of its own, as hosts and people start it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import type { Folder } from "./folder.ts";

const root = join(import.meta.dirname, "../..");
const built = join(root, "bin/pressmark.js");

/** Before the first build, the command runs straight from its source. */
const entry = existsSync(join(root, "dist/cli.js")) ? built : join(root, "test/e2e/child.ts");

export interface Start {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** How a host starts the folder over stdio. */
export function stdioOf({ path, state }: Pick<Folder, "path" | "state">): Start {
  return {
    command: process.execPath,
    args: [entry, "stdio", path],
    env: { ...getDefaultEnvironment(), XDG_STATE_HOME: state, XDG_CACHE_HOME: state },
  };
}

export interface Serving extends AsyncDisposable {
  /** The endpoint of both eras. */
  readonly url: URL;
  /** The stream of HTTP with SSE. */
  readonly sseUrl: URL;
  readonly port: number;
  /** As Ctrl-C does. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** As a power failure does. */
  kill(): Promise<void>;
}

export interface Served extends Pick<Folder, "state"> {
  /** The folder that is served, or the config that says what is. */
  readonly path?: string;
  readonly config?: string;
}

/** Port 0 takes any that is free. */
export async function serve({ path, config, state }: Served, port = 0): Promise<Serving> {
  const what = config === undefined ? [path ?? "."] : ["--config", config];
  const child = spawn(process.execPath, [entry, "serve", ...what, "--port", String(port)], {
    env: { ...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = new URL(await firstMatch(child, /serves at (\S+)/));

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  return {
    url,
    sseUrl: new URL("/sse", url),
    port: Number(url.port),
    stop: () => end("SIGINT"),
    async kill() {
      await end("SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
    },
  };
}

function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const found = pattern.exec(said)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once("error", reject);
  child.once("exit", (code) => reject(new Error(`the command ended with ${code}: ${said}`)));
  return promise;
}
