/** Offers, at a terminal, to install packages that a command has missed, and runs the command again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReadStream } from "node:tty";
import { ResourceError } from "../errors.ts";
import { type InstallCommand, installCommand } from "../lib/missing-package.ts";
import type { CommandContext } from "./command.ts";
import { confirm } from "./confirm.ts";

/** Packages that were offered already, for the command that is run again: a package that is still missing is not offered twice. */
const offeredVariable = "PRESSMARK_OFFERED_PACKAGES";

/** Returns the exit code of the second run; undefined if there was none. The error has named the packages and the command. */
export async function offerInstall(
  words: readonly string[],
  missing: readonly string[],
  world: CommandContext,
): Promise<number | undefined> {
  const { input, out, err, env, signal } = world;
  const offered = env[offeredVariable]?.split(" ") ?? [];
  const names = missing.filter((name) => !offered.includes(name));
  const isInteractive = out.isTTY && err.isTTY && !env["CI"] && words[0] !== "stdio" && !signal.aborted;
  if (!isInteractive || names.length === 0 || !(input as Partial<ReadStream>).isTTY) return undefined;
  const command = installCommand(names);
  if (command === undefined) return undefined;
  try {
    await confirm(`Install now? (${command.words.join(" ")})`, false, { ...world, out: err }, "not installed");
  } catch (cause) {
    if (cause instanceof ResourceError || signal.aborted) return undefined;
    throw cause;
  }
  if (!(await install(command))) {
    err.write("pressmark: the package was not installed; see above\n");
    return undefined;
  }
  // In a new process: Node remembers that it has not found the package.
  const again = [...process.execArgv, process.argv[1]!, ...words];
  const child = spawn(process.execPath, again, {
    stdio: "inherit",
    env: { ...env, [offeredVariable]: [...offered, ...names].join(" ") },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** Without a shell. What it prints is no output of the command. */
async function install({ words: [program, ...args], project }: InstallCommand): Promise<boolean> {
  const [file, ...first] = programFile(program);
  const child = spawn(file!, [...first, ...args], { cwd: project, stdio: ["inherit", 2, 2] });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}

/** On Windows, npm is a script for a shell; the program that it runs is beside Node. */
function programFile(program: string): readonly string[] {
  const ownNpm = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  if (process.platform !== "win32" || program !== "npm" || !existsSync(ownNpm)) return [program];
  return [process.execPath, ownNpm];
}
