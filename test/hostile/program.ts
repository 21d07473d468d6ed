/** `pressmark serve` as people start it: the built program in a process of its own, on a free port of this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Target } from "./attacker.ts";
import { open } from "./test-server.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");

export interface Program extends Target, AsyncDisposable {
  readonly pid: number;
  /** What it printed, to standard output and standard error. */
  readonly printed: string;
}

export interface ProgramOptions {
  /** More files of the served folder, by name; each holds its text. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Serves a folder that holds the open file and what else is asked for. A `pressmark.yaml` among the files is named as the config. */
export async function startProgram({ files = {}, flags = [], env = {} }: ProgramOptions = {}): Promise<Program> {
  const above = await realpath(await mkdtemp(join(tmpdir(), "pressmark-program-")));
  const folder = join(above, "served");
  for (const [name, text] of Object.entries({ [open.name]: open.text, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const what = "pressmark.yaml" in files ? ["--config", join(folder, "pressmark.yaml")] : [folder];
  const child = spawn(process.execPath, [program, "serve", ...what, "--port", "0", ...flags], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: join(above, "state"), XDG_CACHE_HOME: join(above, "cache"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const started = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const url = /serves at (\S+)/.exec(printed)?.[1];
      if (url !== undefined) started.resolve(url);
    });
  child.once("error", started.reject);
  child.once("exit", (code, signal) =>
    started.reject(new Error(`the program ended with ${code ?? signal}: ${printed}`)),
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
    await rm(above, { recursive: true, force: true });
  };
  try {
    const { port } = new URL(await started.promise);
    return {
      port: Number(port),
      folder,
      base: `${pathToFileURL(folder).href}/`,
      pid: child.pid ?? 0,
      get printed() {
        return printed;
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}
