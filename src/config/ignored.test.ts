import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createIsIgnored } from "./ignored.ts";

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-ignored-")));
  const files: Record<string, string> = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/info/exclude": "mine/\n",
    ".gitignore": "build/\n*.db\n/data/*.yaml\n",
    "project/.gitignore": "private\n",
    "project/docs/a.md": "",
    "project/private/b.md": "",
    "build/kept/c.md": "",
    "data/d.yaml": "",
    "mine/e.md": "",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["", "", true, false],
  ["", "project/docs", true, false],
  ["", "build", true, true],
  ["", "build/kept", true, true],
  ["", "build", false, false],
  ["", "mine", true, true],
  ["", "data/d.yaml", false, true],
  ["", "data/e.yaml", false, true],
  ["", "app.db", false, true],
  ["", "app.sqlite", false, false],
  ["", "nowhere/yet/app.db", false, true],
  ["", "nowhere/yet/app.sqlite", false, false],
  ["", "node_modules/x/docs", true, true],
  ["", "keys/server.pem", false, true],
  ["", ".git", true, true],
  ["", ".claude/skills", true, false],
  ["project", "project/docs", true, false],
  ["project", "project/private", true, true],
  ["project", "project/app.db", false, true],
])("in %j, %j (a folder: %s) is ignored: %s", async (from, path, isFolder, expected) => {
  expect(await createIsIgnored(join(folder, from))(join(folder, path), isFolder)).toBe(expected);
});
