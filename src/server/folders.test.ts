import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFolders, isWithin } from "./folders.ts";

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-folders-")));
  for (const folder of ["docs/guide", "docs-2", "other/docs", "..hidden"])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "note.txt"), "a note");
  symlinkSync("docs", join(root, "link"));
  symlinkSync("loop", join(root, "loop"));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the folders that a person names", () => {
  it("are the current one when none is named", () => {
    expect(findFolders([], join(root, "docs"))).toEqual([{ name: "docs", path: join(root, "docs") }]);
  });

  it("are real paths relative to the current folder, with unique names", () => {
    expect(findFolders(["docs", join(root, "other/docs"), "docs-2"], root)).toEqual([
      { name: "docs", path: join(root, "docs") },
      { name: "docs-2", path: join(root, "other/docs") },
      { name: "docs-2-2", path: join(root, "docs-2") },
    ]);
    expect(findFolders(["link"], root)).toEqual([{ name: "docs", path: join(root, "docs") }]);
  });

  it.each([
    [["nowhere"], 'no folder "nowhere"; check the path, or create it first'],
    [["note.txt"], '"note.txt" is a file; name its folder'],
    [["note.txt/x"], '"note.txt/x" contains a file where a folder is expected; check the path'],
    [["loop"], '"loop" is a link to itself; name the real folder'],
    [[""], 'the name of a folder is empty; write "." for the current folder'],
    [["docs", "./docs/"], '"./docs/" and "docs" are the same folder; name it once'],
    [["docs", "link"], '"link" and "docs" are the same folder; name it once'],
    [["docs", "docs/guide"], '"docs/guide" is inside "docs" and would be served twice; name only one of them'],
    [["docs/guide", "."], '"docs/guide" is inside "." and would be served twice; name only one of them'],
  ])("and cannot be served, %j, are answered by a sentence that says what to do", (named, message) => {
    expect(() => findFolders(named, root)).toThrow(expect.objectContaining({ kind: "invalid", message }));
  });

  it("lie within each other only by whole segments", () => {
    expect(isWithin("/a", "/a/b")).toBe(true);
    expect(isWithin("/a", "/ab")).toBe(false);
    expect(isWithin("/a", "/a")).toBe(false);
    expect(isWithin("/a/b", "/a")).toBe(false);
    expect(isWithin("/", "/a")).toBe(true);
    expect(isWithin("/a", "/a/..hidden")).toBe(true);
  });
});
