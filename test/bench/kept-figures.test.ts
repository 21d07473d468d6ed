import { expect, it } from "vitest";
import { compareFigures, measureFigures, readKept } from "../../bench/kept-figures.ts";

it(
  "no figure on the repository's own data falls by more than .01 (to accept: node bench/check-figures.ts --update)",
  { timeout: 300_000 },
  async () => {
    expect(compareFigures(readKept(), await measureFigures())).toEqual([]);
  },
);

it("names a figure that fell, with both values", () => {
  const kept = { "search, english": 0.88, gather: 0.5, gone: 0.7 };
  expect(compareFigures(kept, { "search, english": 0.8699, gather: 0.4901, new: 0.3 })).toEqual([
    "search, english: fell from 0.8800 to 0.8699",
    "gone: 0.7000 is kept, and nothing was measured",
    "new: not kept; now 0.3000",
  ]);
});
