import { describe, expect, it } from "vitest";
import { createGlob, GlobError, isGlob } from "./glob.ts";

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

  it("says where it may lead", () => {
    const shallow = createGlob("src/*/{a,b}*.ts");
    expect(shallow.isDeep).toBe(false);
    expect(["", "src", "src/cli"].filter(shallow.mayLead)).toEqual(["", "src", "src/cli"]);
    expect(["docs", "src/cli/a.ts", "src/cli/x"].filter(shallow.mayLead)).toEqual([]);
    const deep = createGlob("src/**/x");
    expect(deep.isDeep).toBe(true);
    expect(["src", "src/a/b/c"].filter(deep.mayLead)).toEqual(["src", "src/a/b/c"]);
    expect(deep.mayLead("docs")).toBe(false);
  });

  it("takes no longer than its length times that of the path", () => {
    const name = `${"a".repeat(250)}b`;
    expect(createGlob(`${"*a".repeat(500)}*c`).matches(name)).toBe(false);
    expect(createGlob(`${"**/a/".repeat(500)}c`).matches("a/".repeat(2000))).toBe(false);
    expect(createGlob("{".repeat(4000)).matches("x")).toBe(false);
  });

  it("that stands for too many others, or is too long, is refused", () => {
    expect(() => createGlob("{a,b}".repeat(20))).toThrow(GlobError);
    expect(() => createGlob("*".repeat(5000))).toThrow("at most 4096 characters");
  });

  it("is told from a plain path", () => {
    expect(["*.ts", "a?", "[id].tsx", "{a,b}"].filter((text) => !isGlob(text))).toEqual([]);
    expect(["README.md", "a b%.txt", "日本語"].filter(isGlob)).toEqual([]);
  });
});
