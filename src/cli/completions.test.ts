import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allCommands } from "./commands/index.ts";
import { positionals } from "./command.ts";
import { completionScript, shells } from "./completions.ts";

const commands = await allCommands();

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-completions-"));
  for (const name of ["docs", "old docs"]) mkdirSync(join(folder, name));
  for (const name of ["note.txt", "note two.txt"]) writeFileSync(join(folder, name), "");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The completions that bash offers after these words. */
function offered(...words: string[]): string[] {
  const line = `${completionScript("bash", commands)}
    COMP_WORDS=("$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _pressmark 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", line, "bash", "pressmark", ...words], {
    encoding: "utf8",
    cwd: folder,
  })
    .split("\n")
    .filter((word) => word !== "");
}

describe("completion", () => {
  it("offers the commands first", () => {
    expect(offered("")).toEqual([...commands.map(({ name }) => name), "--help", "--version"]);
    expect(offered("se")).toEqual(["serve", "search", "set"]);
  });

  it("offers a command's flags after a dash", () => {
    expect(offered("serve", "--")).toEqual([
      "--config",
      "--port",
      "--host",
      "--allow-host",
      "--allow-origin",
      "--token-file",
      "--open",
      "--log-format",
      "--no-tools",
      "--quiet",
      "--verbose",
      "--help",
    ]);
    expect(offered("ls", "--j")).toEqual(["--json"]);
  });

  it("offers what a place takes", () => {
    expect(offered("completions", "")).toEqual([...shells]);
    expect(offered("serve", "").sort()).toEqual(["docs", "old docs"]);
    expect(offered("read", "note").sort()).toEqual(["note two.txt", "note.txt"]);
    expect(offered("ls", "--folder", "d")).toEqual(["docs"]);
  });

  it.each(shells)("for %s names every command and every flag", (shell) => {
    const script = completionScript(shell, commands);
    for (const command of commands) {
      expect(script).toContain(command.name);
      for (const name of Object.keys(command.flags)) expect(script).toMatch(new RegExp(`(--|-l )${name}`));
    }
  });

  it("is offered for every place that has choices", () => {
    expect(commands.flatMap(positionals).filter(({ offer }) => Array.isArray(offer)).length).toBeGreaterThan(0);
  });
});
