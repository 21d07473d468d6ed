import { expect, it } from "vitest";
import { piecesOf } from "./pieces.ts";

const texts = [
  "line\n".repeat(40_000),
  "😀".repeat(60_000),
  `x${"😀".repeat(60_000)}`,
  `a\n${"b".repeat(100_000)}\nc\n\n`,
  "\n".repeat(1000),
  "one",
  "",
];

it("a long text is cut after lines, never within a character, and loses nothing", () => {
  for (const text of texts) {
    const pieces = piecesOf(text);
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(pieces.every((piece) => piece.text.isWellFormed())).toBe(true);
  }
});

it("each piece knows the number of its first line, also if it begins within that line", () => {
  for (const text of texts) {
    let before = "";
    for (const { text: piece, line, isContinued } of piecesOf(text, 11)) {
      expect(line).toBe(11 + before.split("\n").length - 1);
      expect(isContinued).toBe(before !== "" && !before.endsWith("\n"));
      before += piece;
    }
  }
  expect(piecesOf(texts[3]!).map(({ line, lineCount }) => [line, lineCount])).toEqual([
    [1, 1],
    [2, 1],
    [2, 1],
    [2, 3],
  ]);
});

it("pieces begin at the same lines when earlier lines are added", () => {
  const lines = Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`);
  const starts = piecesOf(lines.join("")).map(({ line }) => line);
  const later = piecesOf(lines.slice(750).join(""), 751).map(({ line }) => line);
  expect(starts.slice(-later.length)).toEqual(later);
  expect(later[0]).toBe(751);
});
