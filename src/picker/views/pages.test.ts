import { expect, it } from "vitest";
import { pagesOf } from "./pages.ts";

it("finds the pages of a document, each with the number of its first line", () => {
  expect(pagesOf("[page 1]\na\nb\n\n[page 2]\n\n[page 3]\nsee\n[page 2]\n[page 9]\n")).toEqual([
    { lines: ["a", "b"], line: 2 },
    { lines: [], line: 6 },
    { lines: ["see", "[page 2]", "[page 9]"], line: 8 },
  ]);
  expect(pagesOf("")).toEqual([]);
});
