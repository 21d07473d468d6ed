import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createQuiet } from "./watch-quiet.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stand() {
  const looked: (readonly string[])[] = [];
  const quiet = createQuiet({ quietMs: 100, maxHoldMs: 1000, look: (paths) => void looked.push(paths) });
  return { quiet, looked };
}

it("hands over paths together after a quiet period", () => {
  const { quiet, looked } = stand();
  quiet.hear("a");
  vi.advanceTimersByTime(99);
  quiet.hear("b");
  quiet.hear("a");
  vi.advanceTimersByTime(99);
  expect(looked).toEqual([]);
  expect(quiet.has("a")).toBe(true);
  vi.advanceTimersByTime(1);
  expect(looked).toEqual([["a", "b"]]);
  expect(quiet.size).toBe(0);
  quiet.hear("a");
  vi.advanceTimersByTime(100);
  expect(looked).toEqual([["a", "b"], ["a"]]);
});

it("hands over paths that are never quiet after the longest wait", () => {
  const { quiet, looked } = stand();
  for (let passedMs = 0; passedMs < 1000; passedMs += 50) {
    quiet.hear("a");
    expect(looked).toEqual([]);
    vi.advanceTimersByTime(50);
  }
  expect(looked).toEqual([["a"]]);
});

it("hands over nothing after close", () => {
  const { quiet, looked } = stand();
  quiet.hear("a");
  quiet.close();
  vi.advanceTimersByTime(10_000);
  expect(looked).toEqual([]);
});
