import { formatBytes } from "../../lib/format-bytes.ts";
import { expect, it } from "vitest";
import { formatCount, grouped, localMinute, localSecond, localTime } from "./amounts.ts";

it("sizes use the fitting unit", () => {
  expect([0, 999, 1000, 1500, 999_949, 999_950, 1e6, 5_242_880, 1e9, 1e12, 1e16].map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "1.5 kB",
    "999.9 kB",
    "1.0 MB",
    "1.0 MB",
    "5.2 MB",
    "1.0 GB",
    "1.0 TB",
    "10000.0 TB",
  ]);
});

it("numbers are grouped, and their things named as one or many", () => {
  expect([0, 999, 1000, 1234567].map(grouped)).toEqual(["0", "999", "1,000", "1,234,567"]);
  expect([formatCount(1, "file"), formatCount(2000, "file"), formatCount(0, "directory", "directories")]).toEqual([
    "1 file",
    "2,000 files",
    "0 directories",
  ]);
});

it("times are local; an invalid time is unchanged", () => {
  const iso = new Date(2026, 10, 1, 4, 3, 22).toISOString();
  expect([localMinute(iso), localSecond(iso), localTime(iso)]).toEqual([
    "2026-11-01 04:03",
    "2026-11-01 04:03:22",
    "04:03:22",
  ]);
  expect(localMinute("last week")).toBe("last week");
});
