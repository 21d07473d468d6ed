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
  // The shell would open the file.
  if (/>\s*["']?(?:\/(?!dev\/null)|~|\.\.)/.test(script))
    throw new Error("it writes to a file outside of the current folder");
  const folder = mkdtempSync(join(tmpdir(), "pressmark-shell-"));
  const log = join(folder, ".commands");
  // A function may have the name of a path; without one, the shell would look for the file.
  const paths = script.match(/(?<![^\s(|;&])[\w.~+-]*\/[\w.+/-]+(?=[\s)|;&]|$)/gm) ?? [];
  // Without a line break, at which bash would write: the commands of a pipeline write at the same time.
  const record = `printf '%s\\0' "$@" $'\\001' >>"$LOG"`;
  const prelude = [
    "MKDIR=$(command -v mkdir)",
    "PATH=$PWD/none",
    `function command_not_found_handle { ${record}; [ "$1 $2" != "pressmark pick" ] || echo README.md; }`,
    ...[...builtins, ...new Set(paths)].map((name) => `function ${name} { set -- ${name} "$@"; ${record}; }`),
    // Folders of the block are made, so that it can write to them.
    `function mkdir { set -- mkdir "$@"; ${record}; case "$*" in *..*|*' /'*) ;; *) "$MKDIR" "\${@:2}";; esac; }`,
    'eval "$SCRIPT"',
  ];
  try {
    const { status, stderr, error } = spawnSync("bash", ["--norc", "-c", prelude.join("\n")], {
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
    if (word === "\u0001") commands.push([]);
    else commands.at(-1)!.push(word);
  return commands.slice(0, -1);
}
