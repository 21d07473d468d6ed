import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf, withLines, withoutLines } from "./line-range-uri.ts";

describe("the line range of a URI", () => {
  it("is read from its query", () => {
    expect(linesOf("file:///a?lines=10-40")).toEqual([10, 40]);
    expect(linesOf("file:///a?as=text&lines=10-#x")).toEqual([10, Infinity]);
    for (const none of [
      "file:///a",
      "file:///a?lines=0-3",
      "file:///a?lines=4-3",
      "file:///a#?lines=1-2",
      "a:b?xlines=1-2",
    ])
      expect(linesOf(none)).toBeUndefined();
  });

  it("is set, replaced and removed; other parameters and the fragment stay", () => {
    expect(withLines("file:///a", [1, 2])).toBe("file:///a?lines=1-2");
    expect(withLines("file:///a?lines=5-6&as=text#f", [1, Infinity])).toBe("file:///a?as=text&lines=1-#f");
    expect(withoutLines("file:///a?lines=5-6")).toBe("file:///a");
    expect(withoutLines("file:///a?x=1&lines=5-6&y=2#f")).toBe("file:///a?x=1&y=2#f");
    expect(withoutLines("file:///a?lines=5-6&y=2")).toBe("file:///a?y=2");
  });

  it("is what was set, and leaves the URI as it was", () => {
    const parameters = fc.array(fc.constantFrom("as=text", "x=1", "lines", "q=lines=2-3"));
    const range = fc.tuple(fc.nat(999), fc.nat(999)).map(([from, more]) => [from + 1, from + 1 + more] as const);
    fc.assert(
      fc.property(parameters, fc.constantFrom("", "#end"), range, (query, fragment, lines) => {
        const uri = `file:///a${query.length > 0 ? `?${query.join("&")}` : ""}${fragment}`;
        expect(linesOf(withLines(uri, lines))).toEqual(lines);
        expect(withoutLines(withLines(uri, lines))).toBe(uri);
      }),
    );
  });
});
