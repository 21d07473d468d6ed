import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGlob, createGlobUnion, GlobError, isGlob } from "./glob.ts";

describe("a pattern", () => {
  it.each([
    ["README.md", ["README.md"], ["readme.md", "docs/README.md", "README.mdx"]],
    ["*.ts", ["a.ts", ".ts", "ü.ts"], ["a.tsx", "src/a.ts"]],
    ["*", ["a", "日本語", " "], ["a/b", ""]],
    ["src/*/*.ts", ["src/cli/run.ts"], ["src/run.ts", "src/cli/commands/ls.ts"]],
    ["src/**/*.ts", ["src/run.ts", "src/cli/run.ts", "src/a/b/c.ts"], ["src.ts", "lib/src/a.ts", "src/a.js"]],
    ["**/*.md", ["a.md", "b/a.md", "b/c/a.md"], ["a.mdx"]],
    ["docs/**", ["docs/a", "docs/a/b"], ["doc", "other/docs/a"]],
    ["**/a/**/b", ["a/b", "x/a/y/z/b", "a/a/b"], ["b", "a/b/c"]],
    ["a?c", ["abc", "a本c", "a🎉c"], ["ac", "abbc", "a/c"]],
    ["[a-c]x", ["ax", "cx"], ["dx", "Ax"]],
    ["[!a-c]x", ["dx", "本x"], ["ax", "x"]],
    ["[^a]x", ["bx"], ["ax"]],
    ["[]a]x", ["]x", "ax"], ["bx"]],
    ["[あ-ん]", ["か"], ["カ"]],
    ["[a", ["[a"], ["a"]],
    ["*.{ts,md}", ["a.ts", "a.md"], ["a.js"]],
    ["{src,test/{e2e,wire}}/*", ["src/a", "test/e2e/a", "test/wire/b"], ["test/a", "test/src/a"]],
    ["{a,}b", ["ab", "b"], ["cb"]],
    ["{a}", ["{a}"], ["a"]],
    ["{a{b,c}", ["{ab", "{ac"], ["ab"]],
    [String.raw`\*.ts`, ["*.ts"], ["a.ts"]],
    [String.raw`\[id\].tsx`, ["[id].tsx"], ["i.tsx"]],
    [String.raw`\{a,b\}`, ["{a,b}"], ["a"]],
    ["a**b", ["ab", "axyb"], ["a/b"]],
    ["*が*".normalize("NFC"), ["ながい".normalize("NFD"), "ながい".normalize("NFC")], ["なかい"]],
    ["Ä?".normalize("NFD"), ["Äb".normalize("NFC"), "Äb".normalize("NFD")], ["A\u0308"]],
  ])("%j matches %j and not %j", (pattern, yes, no) => {
    const { matches } = createGlob(pattern);
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter(matches)).toEqual([]);
  });

  it("knows where a match may be below", () => {
    const shallow = createGlob("src/*/{a,b}*.ts");
    expect(shallow.isDeep).toBe(false);
    expect(["", "src", "src/cli"].filter(shallow.mayLead)).toEqual(["", "src", "src/cli"]);
    expect(["docs", "src/cli/a.ts", "src/cli/x"].filter(shallow.mayLead)).toEqual([]);
    const deep = createGlob("src/**/x");
    expect(deep.isDeep).toBe(true);
    expect(["src", "src/a/b/c"].filter(deep.mayLead)).toEqual(["src", "src/a/b/c"]);
    expect(deep.mayLead("docs")).toBe(false);
  });

  it("matches what its alternatives match one by one", () => {
    const piece = fc.constantFrom("a", "b", "/", "?", "*a", "b*", "[ab]", "[!a]", "x**y", "/**/");
    const choice = fc.array(fc.array(piece, { maxLength: 3 }), { minLength: 2, maxLength: 3 });
    const parts = fc.array(
      fc.oneof(
        piece.map((each) => [[each]]),
        choice,
      ),
      { maxLength: 5 },
    );
    const path = fc.array(fc.stringMatching(/^[abxy]{1,3}$/), { maxLength: 4 }).map((names) => names.join("/"));
    fc.assert(
      fc.property(parts, fc.array(path, { minLength: 1, maxLength: 20 }), (pattern, paths) => {
        const texts = pattern.map((choices) => choices.map((pieces) => pieces.join("")));
        const glob = createGlob(texts.map((each) => (each.length > 1 ? `{${each.join()}}` : each[0])).join(""));
        const ways = texts.reduce((before, each) => before.flatMap((way) => each.map((text) => way + text)), [""]);
        for (const each of paths)
          expect([each, glob.matches(each)]).toEqual([each, ways.some((way) => isMatch(way, each))]);
      }),
      { numRuns: 2000 },
    );
  });

  it("stands for any number of others", () => {
    const pattern = createGlob(`${"{a,b}".repeat(160)}{${"{c,".repeat(18)}d${"}".repeat(18)},e}`);
    expect(["c", "d", "e"].filter((end) => !pattern.matches("ab".repeat(80) + end))).toEqual([]);
    expect(pattern.matches(`${"ab".repeat(80)}f`)).toBe(false);
  });

  it("is rejected with advice if it is too long or nested too deeply", () => {
    expect(() => createGlob("*".repeat(5000))).toThrow("at most 1024 characters; use a shorter one, or several");
    expect(() => createGlob(`${"{a,".repeat(30)}b${"}".repeat(30)}`)).toThrow(GlobError);
    expect(createGlob("{".repeat(1000)).matches("{".repeat(1000))).toBe(true);
  });

  it("is distinguished from a plain path", () => {
    expect(["*.ts", "a?", "[id].tsx", "{a,b}"].filter((text) => !isGlob(text))).toEqual([]);
    expect(["README.md", "a b%.txt", "日本語"].filter(isGlob)).toEqual([]);
  });
});

/** A pattern without braces, by the definition: segment by segment. */
function isMatch(pattern: string, path: string): boolean {
  const fits = (segments: readonly string[], names: readonly string[]): boolean => {
    const [segment, ...rest] = segments;
    if (segment === undefined) return names.length === 0;
    if (segment === "**") return names.some((_, at) => fits(rest, names.slice(at))) || fits(rest, []);
    const [name, ...others] = names;
    const test = segment.replaceAll(/\*+/g, ".*").replaceAll("?", ".").replaceAll("[!", "[^");
    return name !== undefined && new RegExp(`^${test}$`, "u").test(name) && fits(rest, others);
  };
  return fits(pattern.split("/"), path === "" ? [] : path.split("/"));
}

it("matches a union, and names in a folder, like each pattern and whole paths", () => {
  const name = fc.constantFrom("a", "b", "ab", "が", "e", "e\u0301", "é");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const pattern = fc
    .array(fc.oneof(name, fc.constantFrom("*", "**", "?", "{a,b/a}")), { minLength: 1, maxLength: 3 })
    .map((names) => names.join("/"));
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 4 }), fc.array(path, { minLength: 1 }), (patterns, paths) => {
      const union = createGlobUnion(patterns);
      for (const each of paths) {
        const expected = patterns.some((one) => createGlob(one).matches(each));
        expect(union.matches(each)).toBe(expected);
        const slash = each.lastIndexOf("/");
        const folder = each.slice(0, Math.max(0, slash));
        // What the first knows, the second decides by.
        for (let time = 0; time < 2; time += 1) expect(union.matchesIn(folder)(each, slash + 1)).toBe(expected);
        const upper = each.toUpperCase();
        const lower = patterns.map((one) => one.toLowerCase());
        const folded = createGlobUnion(lower).matchesIn(folder.toLowerCase(), true);
        const expectedFolded = lower.some((one) => createGlob(one).matches(upper.toLowerCase()));
        for (let time = 0; time < 2; time += 1) expect(folded(upper, upper.lastIndexOf("/") + 1)).toBe(expectedFolded);
      }
    }),
  );
});
