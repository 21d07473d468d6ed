/** The command on a real terminal: a pseudo-terminal made by `script` of util-linux. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { displayWidth } from "../lib/display-width.ts";

// In CI a missing program is a failure, not a skip.
const hasTerminal =
  "CI" in process.env ||
  (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false);
let root: string;
let folder: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-terminal-"));
  folder = join(root, "files");
  mkdirSync(join(folder, "zz"), { recursive: true });
  const entry = pathToFileURL(join(import.meta.dirname, "run.ts")).href;
  writeFileSync(
    join(root, "start.mjs"),
    `import { runProcess } from ${JSON.stringify(entry)};\nawait runProcess({ version: "1" });`,
  );
  for (const name of ["ガラス", "日本語の長い名前", "nai\u0308ve", "a", "b", "c", "🎉"])
    writeFileSync(join(folder, `${name}.txt`), "");
  writeFileSync(join(folder, "long.txt"), Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join(""));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const erased = "\r\u001b[2K";

interface Terminal {
  readonly env?: Readonly<Record<string, string>>;
  /** Keys to press after this text has appeared. */
  readonly type?: { readonly after: string; readonly keys: string };
}

/** Output on a terminal of 50 columns and 10 rows, and the exit code. */
async function shown(words: string, { env = {}, type }: Terminal = {}): Promise<{ out: string; code: string }> {
  // The shell also gets Ctrl-C, and must continue.
  const line = `trap : INT; stty cols 50 rows 10 -echo; "$NODE" "$START" ${words}; echo "exit code $?"`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"] ?? "",
      SHELL: "/bin/sh",
      TERM: "xterm",
      HOME: root,
      XDG_STATE_HOME: join(root, "state"),
      NODE: process.execPath,
      START: join(root, "start.mjs"),
      ...env,
    },
  });
  const closed = once(child, "close");
  let out = "";
  let isTyped = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (!type || isTyped || !out.includes(type.after)) return;
    isTyped = true;
    child.stdin.write(type.keys);
  });
  await closed;
  const [before = "", code = ""] = out.replaceAll("\r\n", "\n").split("exit code ");
  // Erased lines are not visible.
  const seen = before.split("\n").map((each) => each.slice(each.lastIndexOf(erased) + 1).replace(erased.slice(1), ""));
  return { out: seen.join("\n"), code: code.trim() };
}

describe.skipIf(!hasTerminal)("on a terminal (skipped without script of util-linux)", () => {
  it("names stand in coloured columns that fit", async () => {
    const { out, code } = await shown("ls");
    expect(code).toBe("0");
    expect(out).toContain("\u001b[1;34mzz/\u001b[0m");
    const lines = stripVTControlCharacters(out).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(50);
    const seconds = lines.filter((line) => line.includes("  ")).map((line) => displayWidth(/^.*? {2,}/.exec(line)![0]));
    expect(seconds.length).toBeGreaterThan(1);
    expect(new Set(seconds).size).toBe(1);
  });

  it("Ctrl-C ends a watch, which is how it ends", async () => {
    const { out, code } = await shown("watch a.txt", { type: { after: "stop with Ctrl-C", keys: "\u0003" } });
    expect(out).toContain("watching 1 resource; stop with Ctrl-C");
    expect(code).toBe("0");
  });

  it("a password is not shown while it is typed, and Ctrl-C leaves everything as it was", async () => {
    writeFileSync(join(folder, "team.yaml"), "mounts: { files: { source: file, root: . } }\ncallers: { aki: {} }\n");
    const set = "token password aki --config team.yaml";
    const typed = await shown(set, { type: { after: "New password: ", keys: "correct horse\rcorrect horse\r" } });
    expect(typed.out).toBe(
      "New password: \nRepeat it: \npressmark: aki can sign in with this password, with server.auth: builtin\n",
    );
    const other = await shown(set, { type: { after: "New password: ", keys: "correct horse\rcorrect mouse\r" } });
    expect(other).toMatchObject({ code: "2", out: expect.stringContaining("the two are not the same") });
    const stopped = await shown(set, { type: { after: "New password: ", keys: "correct\u0003" } });
    expect([stopped.code, stopped.out.includes("correct")]).toEqual(["1", false]);
  });

  it("Ctrl-C interrupts what was to wait for something", async () => {
    const { code } = await shown("watch a.txt --once", { type: { after: "stop with Ctrl-C", keys: "\u0003" } });
    expect(code).toBe("130");
  });

  it("a pager is given what is longer than the screen, where one is wanted", async () => {
    const env = { PRESSMARK_PAGER: "sed s/line/paged/" };
    expect((await shown("read long.txt")).out).toContain("line 40\n");
    expect((await shown("read long.txt", { env })).out).toMatch(/^paged 1\n[^]*paged 40\n$/);
    expect((await shown("read long.txt --pager", { env: { PAGER: "sed s/line/paged/" } })).out).toContain("paged 40");
    expect((await shown("read long.txt --lines 1-3", { env })).out).toBe("line 1\nline 2\nline 3\n");
  });

  it("who leaves the pager early has seen enough, and one that cannot be started is done without", async () => {
    expect(await shown("read long.txt", { env: { PRESSMARK_PAGER: "head -n 2" } })).toEqual({
      out: "line 1\nline 2\n",
      code: "0",
    });
    const { out, code } = await shown("read long.txt", { env: { PRESSMARK_PAGER: "no-such-pager" } });
    expect(out).toContain('the pager "no-such-pager" cannot be started; set PRESSMARK_PAGER to another program\n');
    expect([out.endsWith("line 40\n"), code]).toEqual([true, "0"]);
  });
});
