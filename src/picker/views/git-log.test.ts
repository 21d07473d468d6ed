import { describe, expect, it } from "vitest";
import type { Json } from "./json.ts";
import { changesUri, commitTimes, commitUri, nextPageUri, parseGitCommit, parseGitLog } from "./git-log.ts";

const hash = "0123456789abcdef0123456789abcdef01234567";
const commit = {
  hash,
  parents: ["a", "b"],
  author: { name: "田中", date: "2026-11-15T08:00:00+09:00" },
  subject: "直す",
};

describe("a page of a git log", () => {
  it("has commits, notes, the earlier name of a file and the next page", () => {
    const page = {
      from: hash,
      commits: [commit],
      next: "after=x",
      renamed: { from: "old.ts", commit: hash },
      notes: ["n", 1],
    };
    expect(parseGitLog(page)).toEqual({
      commits: [{ hash, date: "2026-11-15T08:00:00+09:00", author: "田中", subject: "直す", isMerge: true }],
      next: "after=x",
      renamedFrom: "old.ts",
      notes: ["n"],
    });
    expect(parseGitLog({ from: null, commits: [] })).toEqual({ commits: [], notes: [] });
  });

  it.each<Json>([
    null,
    [],
    {},
    { commits: [] },
    { from: hash, commits: [{}] },
    { from: hash, commits: [{ ...commit, hash: "../../etc" }] },
    { from: hash, commits: [commit, "x"] },
  ])("is not %j", (value) => {
    expect(parseGitLog(value)).toBeUndefined();
  });

  it("leads to its commits and to older ones, if it is where a repository has its log", () => {
    expect(commitUri("git://project/log?max=2", hash)).toBe(`git://project/commit/${hash}`);
    expect(nextPageUri("git://project/log", "after=x")).toBe("git://project/log?after=x");
    expect(commitUri(`git://project/commit/${hash}`, "x")).toBe("git://project/commit/x");
    expect(commitUri("file:///a/log.json", hash)).toBeUndefined();
    expect(commitUri("file:///a?/log", hash)).toBeUndefined();
  });
});

it("formats the dates of commits, and leaves other text as it is", () => {
  expect(commitTimes("en")("2026-11-15T08:00:00Z")).toMatch(/^Nov 1[456], 2026, /);
  expect(commitTimes("ja")("yesterday")).toBe("yesterday");
});

describe("a commit", () => {
  const message = "Fix it\n\nBecause.\n";
  const author = { name: "Ada", email: "ada@example.org", date: "2026-11-15" };
  const given: Readonly<Record<string, Json>> = {
    hash,
    parents: [hash, "../x"],
    author,
    message,
    files: [{ path: "a b.ts", from: "c.ts", change: "renamed" }, 7, {}],
  };

  it("has a message, parents, and changed files that lead to their changes", () => {
    const found = parseGitCommit(given);
    expect(found).toEqual({
      hash,
      author: "Ada",
      date: "2026-11-15",
      subject: "Fix it",
      body: "Because.",
      parents: [hash],
      files: [
        { path: "a b.ts", from: "c.ts", change: "renamed" },
        { path: "", change: "" },
      ],
    });
    const uri = `git://project/commit/${hash}`;
    expect(found && changesUri(uri, found)).toBe(`git://project/diff/${hash}/${hash}`);
    expect(found && changesUri(uri, found, "a b.ts")).toBe(`git://project/diff/${hash}/${hash}?path=a%20b.ts`);
    expect(found && changesUri(uri, { ...found, parents: [] })).toBeUndefined();
  });

  it.each<Json>([null, {}, { ...given, hash: "x" }, { ...given, files: 7 }, { hash, message }])(
    "is not %j",
    (value) => {
      expect(parseGitCommit(value)).toBeUndefined();
    },
  );
});
