import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortRows } from "./sort-rows.ts";

function sorted(cells: readonly string[], isDescending = false): readonly string[] {
  return [...orderOf(cells, isDescending)].map((index) => cells[index] ?? "");
}

function orderOf(cells: readonly string[], isDescending = false): Uint32Array {
  const steps = sortRows(
    cells.map((cell) => ["", cell]),
    { column: 1, isDescending },
  );
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

describe("sorted rows", () => {
  it.each([
    [
      "numbers by value",
      ["10", "9", "-1", "1,000", "2.5", "1e3", "50%"],
      ["-1", "2.5", "9", "10", "50%", "1,000", "1e3"],
    ],
    ["infinities as numbers", ["inf", "5", "-Infinity"], ["-Infinity", "5", "inf"]],
    [
      "long integers exactly",
      ["12345678901234567891", "12345678901234567890"],
      ["12345678901234567890", "12345678901234567891"],
    ],
    ["numbers within text", ["a10", "a9", "A1"], ["A1", "a9", "a10"]],
    ["Japanese as in a dictionary", ["ん", "い", "亜", "あ", "ア", "愛"], ["あ", "ア", "い", "ん", "亜", "愛"]],
    ["numbers, then text, then empty cells", ["x", "", "2", "nan", " "], ["2", "nan", "x", "", " "]],
    ["nothing", [], []],
  ])("%s", (_, cells, expected) => {
    expect(sorted(cells)).toEqual(expected);
  });

  it("keep empty cells last when they are descending", () => {
    expect(sorted(["1", "", "b", "3", "a"], true)).toEqual(["b", "a", "3", "1", ""]);
  });

  it("are all rows, and equal ones keep their order in both directions", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("1", "1.0", "2", "a", "b", "")), fc.boolean(), (cells, isDescending) => {
        const order = [...orderOf(cells, isDescending)];
        expect(order.toSorted((one, other) => one - other)).toEqual([...cells.keys()]);
        for (const [place, index] of order.entries()) {
          const before = order[place - 1];
          if (before !== undefined && cells[before] === cells[index]) expect(before).toBeLessThan(index);
        }
      }),
    );
  });

  it("yield often enough for the page to respond", () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => [String((index * 7919) % 20_000)]);
    const steps = [...sortRows(rows, { column: 0, isDescending: false })];
    expect(steps.length).toBeGreaterThan(100);
  });
});
