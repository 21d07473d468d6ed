import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListFilter } from "./list-filter.ts";

const byName = (...namePatterns: string[]) => {
  const matches = createListFilter({ namePatterns });
  return (name: string) => matches(name, "");
};
const byUri = (...uriPatterns: string[]) => {
  const matches = createListFilter({ uriPatterns });
  return (uri: string) => matches("", uri);
};

describe("a pattern", () => {
  it("matches any number of characters with *, and one with ?", () => {
    expect(["git_", "git_log", "git", "agit_log"].map(byName("git_*"))).toEqual([true, true, false, false]);
    expect(["a.md", "ab.md", "💥.md", ".md"].map(byName("?.md"))).toEqual([true, false, true, false]);
    expect(["", "a", "a/b"].map(byName("*"))).toEqual([false, true, true]);
  });

  it("treats a slash like any other character", () => {
    expect(["file:///src/a.ts", "file:///src/b/c.ts", "file:///lib/a.ts"].map(byUri("file:///src/*"))).toEqual([
      true,
      true,
      false,
    ]);
    expect(["file:///src/a.ts", "file:///src/b/c.ts"].map(byUri("file:///src/**"))).toEqual([true, true]);
    expect(["a/b", "a//b", "a/b/", "aXb"].map(byUri("a?b"))).toEqual([true, false, false, true]);
  });

  it("takes everything else literally, and case counts", () => {
    for (const odd of ["[a-z]", "{a,b}", "\\*", "a.b", "m://{+path}{+lines,bytes}", "(", "^$", "日本語"])
      expect(byName(odd.replaceAll("*", "?"))(odd), odd).toBe(true);
    expect(byName("[a-z]")("b")).toBe(false);
    expect(byName("{a,b}")("a")).toBe(false);
    expect(byName("README*")("readme.md")).toBe(false);
  });
});

describe("a filter", () => {
  it("needs one pattern of each field, and none of an empty one", () => {
    const matches = createListFilter({ namePatterns: ["a*", "b*"], uriPatterns: ["x://*"] });
    expect(matches("apple", "x://1")).toBe(true);
    expect(matches("bread", "x://1")).toBe(true);
    expect(matches("apple", "y://1")).toBe(false);
    expect(matches("cake", "x://1")).toBe(false);
    expect(createListFilter({})("anything", "at:all")).toBe(true);
    expect(createListFilter({ namePatterns: [], uriPatterns: [] })("anything", "at:all")).toBe(true);
  });

  it("agrees with a matcher that tries everything", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "/", "[", "{", ",", "}", "\\"),
      minLength: 1,
      maxLength: 8,
    });
    const pattern = fc.string({
      unit: fc.constantFrom("a", "b", "/", "*", "?", "[", "]", "{", ",", "}", "\\"),
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), text, (patterns, name) => {
        expect(byName(...patterns)(name)).toBe(patterns.some((each) => fits(each, name)));
      }),
      { numRuns: 2000 },
    );
  });
});

function fits(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === "*") return fits(rest, text) || (text !== "" && fits(pattern, text.slice(1)));
  return text !== "" && (first === "?" || first === text[0]) && fits(rest, text.slice(1));
}
