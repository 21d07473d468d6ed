import { describe, expect, it } from "vitest";
import { maxRows, parseSeparated } from "./separated.ts";

const rowsOf = (text: string, type = "text/csv", isWhole = true) => {
  const { head, rows } = parseSeparated(text, type, isWhole);
  return [head, ...rows];
};

describe("separated values", () => {
  it.each([
    [
      "a,b\n1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      'a,b\r\n"x, ""y""","two\r\nlines"\r\n',
      [
        ["a", "b"],
        ['x, "y"', "two\r\nlines"],
      ],
    ],
    [
      "\uFEFF名前;数\n東京;1\n",
      [
        ["名前", "数"],
        ["東京", "1"],
      ],
    ],
    [
      "a\tb\n1\t2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\n\n1,\n,2\n",
      [
        ["a", "b"],
        ["1", ""],
        ["", "2"],
      ],
    ],
    ['a\n=1+1\n"=HYPERLINK(""x"")"\n', [["a"], ["=1+1"], ['=HYPERLINK("x")']]],
    ['a,b\n"never closed,1\n2,3', [["a", "b"], ["never closed,1\n2,3"]]],
    ['"a,;b";c,d;e\n', [["a,;b", "c,d", "e"]]],
    ["", [[]]],
  ])("%j", (text, expected) => {
    expect(rowsOf(text)).toEqual(expected);
  });

  it("a tab separates if the type says so, and a comma does not", () => {
    expect(rowsOf("a,b\tc\n", "text/tab-separated-values")).toEqual([["a,b", "c"]]);
  });

  it("an incomplete last line is left for the next part", () => {
    expect(rowsOf("a,b\n1,2\n3,", "text/csv", false)).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
    expect(rowsOf('a,b\n1,"2\n3', "text/csv", false)).toEqual([["a", "b"]]);
    expect(rowsOf("a,b\n1,2\n", "text/csv", false)).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });

  it("stops after a number of rows, and reports that", () => {
    const { rows, isCut } = parseSeparated("x\n".repeat(maxRows + 10), "text/csv", true);
    expect([rows.length, isCut]).toEqual([maxRows, true]);
  });

  it("takes linear time for hostile texts", () => {
    for (const piece of ['"', '""', ",", '"a"b', '\n"', "\r", '","', ';"'])
      expect(parseSeparated(piece.repeat(200_000), "text/csv", true)).toBeDefined();
  });
});
