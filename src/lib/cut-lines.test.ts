import { expect, it } from "vitest";
import { cutLines } from "./cut-lines.ts";

it("cuts lines with their ends, as far as they exist", () => {
  const text = "a\r\nb\n\nd";
  expect(cutLines(text, 1, 2)).toEqual({ text: "a\r\nb\n", last: 2, total: 4 });
  expect(cutLines(text, 3, Infinity)).toEqual({ text: "\nd", last: 4, total: 4 });
  expect(cutLines("a\nb\n", 2, 9)).toEqual({ text: "b\n", last: 2, total: 2 });
});

it("counts the lines if none of them is wanted", () => {
  expect(cutLines("a\nb\n", 3, 4)).toEqual({ total: 2 });
  expect(cutLines("", 1, 1)).toEqual({ total: 0 });
});
