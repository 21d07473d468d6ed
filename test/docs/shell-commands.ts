/** The commands that a shell would run for a block of code, found by a real shell that has no programs. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The words of one command, after the shell has expanded them. */
export type ShellCommand = readonly string[];

/** Commands of the shell itself that would change what the block sees, or need its programs. */
const builtins = ["cd", "source", "exec", "exit"];

/** Throws what the shell reports. Only `pressmark pick` prints anything: the chosen README.md. */
export function commandsOf(script: string): readonly ShellCommand[] {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-shell-"));
  const log = join(folder, ".commands");
  // A function may have the name of a path; without one, the shell would look for the file.
  const paths = script.match(/(?<![^\s(|;&])(?:\.{0,2}|~)\/[\w.+/-]+(?=[\s)|;&]|$)/gm) ?? [];
  const record = `printf '%s\\0' "$@" $'\\n' >>"$LOG"`;
  const functions = [...builtins, ...new Set(paths)].map(
    (name) => `function ${name} { set -- ${name} "$@"; ${record}; }`,
  );
  const prelude = `PATH=$PWD/none\ncommand_not_found_handle() { ${record}; [ "$1 $2" = "pressmark pick" ] && echo README.md || true; }\n${functions.join("\n")}\n`;
  try {
    const { status, stderr, error } = spawnSync("bash", ["--norc", "-c", `${prelude}eval "$SCRIPT"`], {
      cwd: folder,
      env: { PATH: process.env["PATH"], LOG: log, SCRIPT: script, HOME: "/home/me", LC_ALL: "C.UTF-8" },
      encoding: "utf8",
      input: "",
    });
    if (error) throw error;
    if (stderr !== "" || status !== 0) throw new Error(`bash ended with ${status}: ${stderr.trim()}`);
    return logged(log);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function logged(file: string): readonly ShellCommand[] {
  const commands: string[][] = [[]];
  for (const word of readFileSync(file, "utf8").split("\0").slice(0, -1))
    if (word === "\n") commands.push([]);
    else commands.at(-1)!.push(word);
  return commands.slice(0, -1);
}
