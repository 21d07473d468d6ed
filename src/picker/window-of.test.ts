import { describe, expect, it } from "vitest";
import { windowOf } from "./window-of.ts";

const rowHeight = 28;
const height = 560;

describe("the visible rows", () => {
  it("are those between the edges, and a few beyond", () => {
    const { first, last, topOf, canvas } = windowOf({ count: 1000, rowHeight, scrollTop: 2800, height }, 5);
    expect([first, last, topOf(100), canvas]).toEqual([95, 125, 2800, 28_000]);
    expect(windowOf({ count: 3, rowHeight, scrollTop: 0, height }, 5)).toMatchObject({ first: 0, last: 3 });
  });

  it("are scrolled to only if necessary", () => {
    const { scrollFor } = windowOf({ count: 1000, rowHeight, scrollTop: 2800, height }, 5);
    expect([scrollFor(100), scrollFor(119), scrollFor(0), scrollFor(120)]).toEqual([undefined, undefined, 0, 2828]);
  });

  it.each([1_000_000, 20_000_000])("of %i can all be reached, although no browser allows a page so high", (count) => {
    const { canvas } = windowOf({ count, rowHeight, scrollTop: 0, height }, 0);
    expect(canvas).toBe(15_000_000);
    const end = windowOf({ count, rowHeight, scrollTop: canvas - height, height }, 0);
    expect(end.last).toBe(count);
    expect(end.topOf(count - 1)).toBeCloseTo(canvas - rowHeight, 3);
    const start = windowOf({ count, rowHeight, scrollTop: 0, height }, 0);
    for (const index of [0, 12_345, count >> 1, count - 1]) {
      const scrollTop = start.scrollFor(index) ?? 0;
      const there = windowOf({ count, rowHeight, scrollTop, height }, 0);
      expect(there.first <= index && index < there.last, String(index)).toBe(true);
    }
  });
});
