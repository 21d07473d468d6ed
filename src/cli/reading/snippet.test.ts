import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../../lib/display-width.ts";
import { snippetLines } from "./snippet.ts";

const resource = { uri: "m://a", name: "a" };
const match = (text: string): string => `[${text}]`;

function shown(snippet: string, marks: readonly (readonly [number, number])[], width = 80, most = 4): string[] {
  return snippetLines({ resource, score: 1, snippet, marks }, { width, most, match });
}

describe("a snippet", () => {
  it("is shown from the line with the first match on, with what matched marked", () => {
    expect(
      shown("one\n  two tea\n\nthree tea", [
        [10, 13],
        [21, 24],
      ]),
    ).toEqual(["two [tea]", "three [tea]"]);
    expect(shown("one\ntwo\nthree", [], 80, 2)).toEqual(["one", "two"]);
    expect(shown("", [])).toEqual([]);
  });

  it("goes on over the end of a line, and has no line for what is empty", () => {
    expect(shown("green\r\ntea\n\t\n", [[0, 10]])).toEqual(["[green]", "[tea]"]);
  });

  it("steers no terminal", () => {
    expect(shown("a\u001b[2Jb\u202ec", [[0, 1]])).toEqual([String.raw`[a]\x1b[2Jb\u202ec`]);
  });

  it("is cut so that the match stays visible", () => {
    expect(shown("green tea with milk", [[6, 9]], 12)).toEqual(["green [tea] w…"]);
    const long = `${"word ".repeat(50)}tea and more`;
    const [line = ""] = shown(long, [[250, 253]], 30);
    expect(line).toMatch(/^….*\[tea\] and more$/);
    expect(shown("日本語のお茶", [[4, 6]], 8)).toEqual(["…の[お茶]"]);
  });

  it("never exceeds the width, wherever the matches are", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "日", " ", "\n", "é", "🎉", "\t", "\u0007"), maxLength: 60 });
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat(60), { maxLength: 6 }),
        fc.integer({ min: 4, max: 40 }),
        (snippet, cuts, width) => {
          const ends = [...new Set(cuts.filter((at) => at <= snippet.length))].toSorted((left, right) => left - right);
          const marks = ends.flatMap((end, at) => (at % 2 === 1 ? [[ends[at - 1]!, end] as const] : []));
          for (const line of snippetLines(
            { resource, score: 1, snippet, marks },
            { width, most: 4, match: (each) => each },
          ))
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
