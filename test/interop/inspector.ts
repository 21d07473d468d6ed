/** The official Inspector without its window: once per question, or with a connection that it keeps. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Start } from "./command.ts";

const programs = join(import.meta.dirname, "../../node_modules/.bin");

/** What went wrong, as the Inspector says it. */
const refusal = z.object({ error: z.object({ message: z.string() }) });

export interface Inspector extends AsyncDisposable {
  /** One question, over a connection of its own. */
  ask(target: readonly string[], ...options: readonly string[]): Promise<unknown>;
  /** What it finds when it checks every skill and every digest: one report for each skill. */
  verify(target: readonly string[]): Promise<readonly unknown[]>;
  /** One question over a connection that is kept, by the name it was given when it was made. */
  keep(...options: readonly string[]): Promise<unknown>;
}

/** How the Inspector is told to start a server. */
export function targetOf({ command, args }: Start): string[] {
  return [command, ...args];
}

export async function createInspector(state: string): Promise<Inspector> {
  const home = await mkdtemp(join(tmpdir(), "pressmark-inspector-"));
  const env = {
    ...process.env,
    HOME: home,
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: state,
    MCP_INSPECTOR_SECRET_STORE: "memory",
    MCP_INSPECTOR_DAEMON_DIR: join(home, "kept"),
    MCP_INSPECTOR_DAEMON_TOKEN: randomBytes(32).toString("base64url"),
  };
  let keeping = false;

  /** Throws what the program says went wrong. */
  function run(program: string, args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { env, maxBuffer: 64 * 1024 * 1024, timeout: 20_000 };
      execFile(process.execPath, [join(programs, program), ...args], options, (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const told = stderr
          .split("\n")
          .flatMap((line) => (line.startsWith("{") ? [refusal.safeParse(JSON.parse(line))] : []));
        reject(new Error(told[0]?.data?.error.message ?? `${error.message}\n${stderr}`));
      });
    });
  }

  return {
    async ask(target, ...options) {
      const said = await run("mcp-inspector", ["--cli", ...target, "--format", "json", "--quiet", ...options]);
      return z.object({ result: z.unknown() }).parse(JSON.parse(said)).result;
    },
    async verify(target) {
      const ask = ["--protocol-era", "modern", "--method", "skills/list", "--verify"];
      const said = await run("mcp-inspector", ["--cli", ...target, "--format", "json", "--quiet", ...ask]);
      return said
        .trim()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
    },
    async keep(...options) {
      keeping = true;
      return JSON.parse(await run("mcpdo", ["--format", "json", ...options]));
    },
    async [Symbol.asyncDispose]() {
      if (keeping) await run("mcpdo", ["daemon", "stop"]);
      // What keeps the connections may still be putting away its things.
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}
