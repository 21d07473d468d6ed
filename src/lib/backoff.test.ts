import { describe, expect, it } from "vitest";
import { createBackoff } from "./backoff.ts";

function start(atOnce?: number) {
  let nowMs = 0;
  const options = { firstMs: 100, longestMs: 1000, steadyMs: 500, now: () => nowMs };
  const backoff = createBackoff(atOnce === undefined ? options : { ...options, atOnce });
  return {
    backoff,
    /** An attempt succeeds and lasts this long. */
    held(ms: number): number {
      backoff.begun();
      nowMs += ms;
      return backoff.ended();
    },
  };
}

describe("a backoff", () => {
  it("doubles after each failure, up to the longest delay", () => {
    const { backoff } = start();
    expect(Array.from({ length: 6 }, () => backoff.ended())).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  it("lets the configured number of attempts follow immediately, before the first delay", () => {
    const { backoff, held } = start(2);
    expect(Array.from({ length: 4 }, () => backoff.ended())).toEqual([0, 0, 100, 200]);
    expect(held(500)).toBe(0);
  });

  it("restarts after a lasting success, and only then", () => {
    const { backoff, held } = start();
    backoff.ended();
    backoff.ended();
    expect(held(499)).toBe(400);
    expect(held(500)).toBe(100);
    expect(held(500)).toBe(100);
    expect(held(0)).toBe(200);
  });

  it("does not count an earlier success for a later attempt that failed", () => {
    const { backoff, held } = start();
    expect(held(10_000)).toBe(100);
    expect(backoff.ended()).toBe(200);
  });

  it("never waits longer than the longest delay, however often it fails", () => {
    const { backoff } = start();
    for (let count = 0; count < 5000; count += 1) expect(backoff.ended()).toBeLessThanOrEqual(1000);
  });
});
