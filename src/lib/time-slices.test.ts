import { describe, expect, it } from "vitest";
import { createTimeSlices, nextSlice } from "./time-slices.ts";
import { monotonicMs } from "./monotonic-ms.ts";

describe("time slices", () => {
  it("let work continue during a slice", () => {
    expect(createTimeSlices(60_000)()).toBeUndefined();
  });

  it("make work wait when the slice is used up, and start another one", async () => {
    const slice = createTimeSlices(20);
    burn(25);
    const waiting = slice();
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(slice()).toBeUndefined();
  });

  it("run one at a time between two turns of the event loop, in request order", async () => {
    let turn = 0;
    let isOver = false;
    function countTurns(): void {
      turn += 1;
      if (!isOver) setImmediate(countTurns);
    }
    setImmediate(countTurns);
    const resumed: { readonly name: number; readonly turn: number }[] = [];
    await Promise.all(
      [1, 2, 3, 4].map(async (name) => {
        await nextSlice();
        resumed.push({ name, turn });
      }),
    );
    isOver = true;
    expect(resumed.map(({ name }) => name)).toEqual([1, 2, 3, 4]);
    expect(new Set(resumed.map((each) => each.turn)).size).toBe(4);
  });
});

function burn(ms: number): void {
  const end = monotonicMs() + ms;
  while (monotonicMs() < end);
}
