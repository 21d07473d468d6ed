import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseStep, mostPoints, parseDuration, parseTimeRange, pointsIn, formatDuration } from "./times.ts";

const hour = 3_600_000;
const now = Date.parse("2026-03-01T12:00:00.700Z");

describe("a duration", () => {
  it.each([
    ["30s", 30_000],
    ["1h30m", 5_400_000],
    ["7d", 7 * 24 * hour],
    ["1y", 365 * 24 * hour],
    ["250ms", 250],
    ["90", 90_000],
    ["0.5", 500],
  ])("%s is parsed", (text, ms) => {
    expect(parseDuration(text, "step")).toBe(ms);
  });

  it.each(
    ["", "0", "0s", "-1h", "h", "1h 30m", "1e3", "NaN", "9999999999y", "1hh", "Infinity"].filter(
      (text) => text !== "1",
    ),
  )("%s is not valid", (text) => {
    expect(() => parseDuration(text, "step")).toThrow(/is not a duration/);
  });

  it("is formatted so that it can be parsed again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 10 - 1 }), (ms) => {
        expect(parseDuration(formatDuration(ms), "step")).toBe(ms);
      }),
    );
  });
});

describe("a range", () => {
  it("is a duration until now, or from one time to another", () => {
    const end = Date.parse("2026-03-01T12:00:00Z");
    expect(parseTimeRange("1h", now)).toEqual({ startMs: end - hour, endMs: end, isMoving: true });
    expect(parseTimeRange("2026-01-01T09:00:00+09:00/2026-01-01T06:00:00Z", now)).toEqual({
      startMs: Date.parse("2026-01-01T00:00:00Z"),
      endMs: Date.parse("2026-01-01T06:00:00Z"),
      isMoving: false,
    });
    expect(parseTimeRange("1700000000/1700003600", now)).toMatchObject({ startMs: 1_700_000_000_000 });
    expect(parseTimeRange("2026-01-01/2026-01-02", now)).toMatchObject({ endMs: Date.parse("2026-01-02T00:00:00Z") });
  });

  // A time without an offset would depend on the machine.
  it.each([
    "/",
    "1h/2h",
    "2026-01-01T00:00:00/2026-01-02",
    "2026-13-01/2027-01-01",
    "now/1h",
    "2026-01-02/2026-01-01",
    "0/99999999999",
  ])("%s is not valid", (text) => {
    expect(() => parseTimeRange(text, now)).toThrow(/range=/);
  });
});

it("the step is the shortest common one with which the points fit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 100 * 365 * 24 * hour }),
      fc.integer({ min: 2, max: 20_000 }),
      fc.integer({ min: 1000, max: hour }),
      (spanMs, points, leastMs) => {
        const step = chooseStep(spanMs, points, leastMs);
        expect(step).toBeGreaterThanOrEqual(leastMs);
        expect(pointsIn(spanMs, step)).toBeLessThanOrEqual(Math.min(points, mostPoints));
      },
    ),
  );
  expect(chooseStep(hour, 5000, 15_000)).toBe(15_000);
  expect(chooseStep(24 * hour, 5000, 15_000)).toBe(20_000);
  expect(chooseStep(hour, 61, 15_000)).toBe(60_000);
  expect(chooseStep(hour, 60, 15_000)).toBe(120_000);
});
