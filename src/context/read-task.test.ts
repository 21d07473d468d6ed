import { describe, expect, it } from "vitest";
import { importsOf } from "./imports.ts";
import { readTask } from "./read-task.ts";
import { kinship } from "./related-names.ts";

describe("a task", () => {
  it("names URIs, paths, symbols and hashes", () => {
    const { names } = readTask(
      "See file:///a/b.ts (and https://example.org/x?y=1), fix src/search/rank.ts and README.md: getUserName() calls max_bytes since 1a2b3c4d5e, e.g. in 3.5.",
    );
    expect(names).toEqual({
      uris: ["file:///a/b.ts", "https://example.org/x?y=1"],
      paths: ["src/search/rank.ts", "README.md"],
      hashes: ["1a2b3c4d5e"],
      symbols: ["getUserName", "max_bytes"],
      locations: [],
      phrases: [],
    });
  });

  it.each([
    ["at run (src/a.ts:12:3)", "src/a.ts", 12],
    ['File "/usr/lib/x.py", line 7, in f', "/usr/lib/x.py", 7],
    ["main.go:9 +0x1d", "main.go", 9],
    ["panicked at src/main.rs:12:5", "src/main.rs", 12],
    ["at com.foo.Bar.baz(Foo.java:33)", "Foo.java", 33],
    ["in C:\\app\\Foo.cs:line 4", "/app/Foo.cs", 4],
    ["in /var/www/a.php on line 8", "/var/www/a.php", 8],
    ["see a.ts#L20", "a.ts", 20],
    ["設定.ts の 12 行目", "設定.ts", 12],
    ["src/[id]/page.tsx:12", "src/[id]/page.tsx", 12],
    ["at run (src/[[...slug]].tsx:12:3)", "src/[[...slug]].tsx", 12],
    ["src/(group)/page.tsx の 12 行目", "src/(group)/page.tsx", 12],
    ["in app\\(経理)\\[番号]\\page.tsx:12", "app/(経理)/[番号]/page.tsx", 12],
    ["in (group)/page.tsx:12", "(group)/page.tsx", 12],
    ["error in Foo.cs(12,3)", "Foo.cs", 12],
    ["see [a.ts](src/a.ts#L7)", "src/a.ts", 7],
  ])("names a line of a file: %s", (text, path, line) => {
    expect(readTask(text).names.locations).toEqual([{ path, line }]);
  });

  it.each([
    ["fix src/routes/[id]/+page.ts now", ["src/routes/[id]/+page.ts"]],
    ["src/(経理)/page.tsx を直す", ["src/(経理)/page.tsx"]],
    ["see [one.ts](src/one.ts), (two.ts) and f(x).y", ["one.ts", "src/one.ts", "two.ts"]],
  ])("names files in folders with brackets: %s", (text, paths) => {
    expect(readTask(text).names.paths).toEqual(paths);
  });

  it.each([
    ['It says "cannot open the settings of /etc/x": why?', ["cannot open the settings of"]],
    ["ValueError: invalid literal for int() with base 10", ["invalid literal for"]],
    ["「設定を読み込めません」と出る", ["設定を読み込めません"]],
    ['Rename "kettle" to `the pot`', []],
    ["version 1.2 of a.ts at 12:30", []],
  ])("quotes texts: %s", (text, phrases) => {
    const { names, queries } = readTask(text);
    expect(names.phrases).toEqual(phrases);
    for (const phrase of phrases) expect(queries).toContain(`"${phrase}"`);
  });

  it("is searched as words, whatever punctuation it has", () => {
    const { queries } = readTask('path:x -not "a phrase" lang:ja\n\nmore “quotes”');
    for (const query of queries) expect(query).not.toMatch(/["“”:]|(?:^|\s)-/u);
    expect(queries[0]).toBe("path x not a phrase lang ja more quotes");
  });

  it("in Japanese is searched by its words", () => {
    expect(readTask("検索のランキングを直す").queries).toEqual(["検索のランキングを直す", "検索", "ランキング"]);
  });

  it.each([
    ["router: answer sooner", ["router"]],
    ["web, docs: fewer ways to be led astray", ["web", "docs"]],
    ["fix(search): the order of hits", ["fix", "search"]],
    ["検索：並び順を直す", ["検索"]],
    ["the order of the hits is wrong: see below", []],
    ["see http://example.org: it is down", []],
    ["rename a::b", []],
    ["first\nline: second", []],
    [":", []],
    ["", []],
  ])("names first where something is to be done: %j", (text, expected) => {
    const places = [...readTask(text).terms.values()].filter(({ isPlace }) => isPlace);
    expect(places.map(({ surface }) => surface)).toEqual(expected);
  });

  it("weighs rare words more than those of every task", () => {
    const { terms } = readTask("fix the getUserName of kettles");
    const weight = (word: string) => [...terms.values()].find(({ surface }) => surface === word)?.weight ?? 0;
    expect(weight("getUserName")).toBeGreaterThan(weight("kettles"));
    expect(weight("kettles")).toBeGreaterThan(weight("fix"));
    expect(weight("fix")).toBeGreaterThan(0);
    expect(weight("the")).toBe(0);
  });
});

describe("related names", () => {
  it.each([
    ["rank.ts", "rank.test.ts", "test"],
    ["rank.test.ts", "rank.ts", "tested"],
    ["rank.py", "test_rank.py", "test"],
    ["rank.go", "rank_test.go", "test"],
    ["Rank.java", "RankTest.java", "test"],
    ["決済.md", "決済テスト.md", "test"],
    ["rank.c", "rank.h", "half"],
    ["guide.md", "guide.ja.md", "translation"],
    ["README.en.md", "README.ja.md", "translation"],
    ["go.mod", "go.sum", undefined],
    ["Cargo.lock", "Cargo.toml", undefined],
    ["Pipfile", "Pipfile.lock", undefined],
    ["rank.ts", "score.ts", undefined],
    ["latest.ts", "la.ts", undefined],
    ["guide.md", "guide.ts", undefined],
  ])("%s and %s: %s", (one, other, kin) => {
    expect(kinship(one, other)).toBe(kin);
  });
});

describe("imports", () => {
  it.each([
    [
      "a.ts",
      'import { x } from "../lib/y.ts";\nconst z = await import("./z.js");\nimport "vitest";',
      ["../lib/y", "./z"],
    ],
    [
      "a.py",
      "from ..core import x\nimport app.models.user\nfrom .near import y",
      ["../core", "app/models/user", "./near"],
    ],
    ["a.c", '#include "rank.h"\n#include <stdio.h>\n#include "gio/gio.h"', ["rank.h", "gio/gio.h"]],
    [
      "A.java",
      "import static org.example.Rank;\nimport org.example.score.Score;",
      ["org/example/Rank", "org/example/score/Score"],
    ],
    ["a.rs", "mod near;\nuse crate::search::rank::Rank;", ["./near", "search/rank"]],
    ["a.md", "See [this](./other.md#part) and [that](https://example.org/x.md).", ["./other.md"]],
    ["a.txt", 'import "./x"', []],
  ])("of %s", (path, text, expected) => {
    expect(importsOf(path, text).map((one) => one.path)).toEqual(expected);
  });
});
