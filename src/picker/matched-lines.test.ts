import { expect, it } from "vitest";
import { matchedLines } from "./matched-lines.ts";

const resource = { uri: "a:b", name: "b" };
const text = "same word\n\nsame word\nother\nlast word";
const hit = {
  resource,
  score: 1,
  lines: [2, 5],
  snippet: "same word\nother\nlast word",
  marks: [
    [5, 9],
    [21, 25],
  ],
} as const;

it("the matches of a hit are found by line, from its first line on", () => {
  expect(matchedLines({ text, firstLine: 1 }, hit)).toEqual([
    [3, 3],
    [5, 5],
  ]);
  expect(matchedLines({ text, firstLine: 101 }, { ...hit, lines: [102, 105], marks: [[5, 15]] })).toEqual([[103, 104]]);
});

it("a hit whose text is not there, or is not known, has no lines", () => {
  for (const other of [
    { lines: undefined },
    { snippet: undefined },
    { marks: undefined },
    { snippet: "gone" },
    { lines: [4, 5] as const },
  ])
    expect(matchedLines({ text, firstLine: 1 }, { ...hit, ...other } as typeof hit)).toEqual([]);
  expect(matchedLines({ text, firstLine: 10 }, hit)).toEqual([]);
});
