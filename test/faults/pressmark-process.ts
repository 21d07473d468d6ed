/** `pressmark` as users start it: a process of its own, from the built package, with state and cache folders of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const command = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");

export interface PressmarkProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it wrote to standard error so far. */
  readonly errors: string;
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
}

export interface Served extends PressmarkProcess {
  readonly port: number;
}

/** A folder that is removed after use, with the environment of a process that keeps its state and cache in it. */
export function createScratch(): { readonly folder: string; readonly env: NodeJS.ProcessEnv; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-faults-"));
  return {
    folder,
    env: {
      ...process.env,
      XDG_STATE_HOME: join(folder, "state"),
      XDG_CACHE_HOME: join(folder, "cache"),
      PRESSMARK_LOG: "warn",
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

export function startPressmark(
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): PressmarkProcess {
  const child = spawn(process.execPath, [command, ...words], { cwd, env });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  return {
    child,
    get errors() {
      return errors;
    },
    exited: once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string),
  };
}

/** Resolves once the server takes requests. */
export async function startServe(
  words: readonly string[],
  { port: wanted = 0, ...options }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly port?: number },
): Promise<Served> {
  const started = startPressmark(["serve", "--port", String(wanted), ...words], options);
  let said = "";
  for await (const chunk of started.child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    const port = /serves at http:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1];
    if (port !== undefined) return Object.assign(started, { port: Number(port) });
  }
  throw new Error(`serve ended without an address: ${said}${started.errors}`);
}

/** Resolves once a server that was told to stop accepts no more connections. */
export async function portIsClosed(port: number): Promise<void> {
  for (;;) {
    const probe = connect({ port, host: "127.0.0.1" });
    const isOpen = await new Promise<boolean>((resolve) =>
      probe.on("connect", () => resolve(true)).on("error", () => resolve(false)),
    );
    probe.destroy();
    if (!isOpen) return;
  }
}
