import { describe, expect, it } from "vitest";
import { gapsOf, plotPath } from "./plot-path.ts";
import { scaleOf, ticksOf, timeTicksOf } from "./scale.ts";
import { type PlotPoint, seriesOfMatrix, seriesOfTable } from "./series.ts";

const matrix = (result: unknown) => ({ status: "success", data: { resultType: "matrix", result } });
const day = (number: number): number => new Date(2026, 10, number).getTime();

describe("values over time", () => {
  it("are parsed from Prometheus results, each labelled by what distinguishes it", () => {
    const found = seriesOfMatrix(
      matrix([
        {
          metric: { __name__: "up", job: "a", zone: "x" },
          values: [
            [1, "1"],
            [2, "NaN"],
          ],
        },
        {
          metric: { __name__: "up", job: "b", zone: "x" },
          values: [
            [2, "4"],
            [1, "3"],
          ],
        },
      ]),
    );
    expect(found).toEqual([
      {
        label: '{job="a"}',
        points: [
          [1000, 1],
          [2000, Number.NaN],
        ],
      },
      {
        label: '{job="b"}',
        points: [
          [1000, 3],
          [2000, 4],
        ],
      },
    ]);
    expect(seriesOfMatrix(matrix([{ metric: { __name__: "up", job: "a" }, values: [] }]))?.[0]?.label).toBe(
      'up{job="a"}',
    );
  });

  it("are not found in anything else, and have gaps where a value or a time is invalid", () => {
    expect([{}, null, [], { resultType: "vector", result: [] }].map(seriesOfMatrix)).toEqual(Array(4).fill(undefined));
    const values = [[1, "1e308"], [2, {}], [3, ""], ["4", "4"], [1e300, "1"], null];
    expect(seriesOfMatrix(matrix([{ values }, 7]))).toEqual([
      {
        label: "{}",
        points: [
          [1000, Number.NaN],
          [2000, Number.NaN],
          [3000, Number.NaN],
        ],
      },
    ]);
  });

  it("are columns of numbers beside a column of times", () => {
    const rows = [
      ["2026-11-03", "1,200", "5%"],
      ["2026-11-01", "", "6%"],
      ["2026-11-02", "7", "7%"],
    ];
    expect(seriesOfTable(["date", "a", "b"], rows)).toEqual([
      {
        label: "a",
        points: [
          [day(1), Number.NaN],
          [day(2), 7],
          [day(3), 1200],
        ],
      },
      {
        label: "b",
        points: [
          [day(1), 6],
          [day(2), 7],
          [day(3), 5],
        ],
      },
    ]);
  });

  it("are separated by a column of words if there is one value per row", () => {
    const rows = [
      ["日時", "host", "value"],
      ["2026/11/1", "a", "1"],
      ["2026/11/2", "b", "2"],
      ["2026/11/3", "a", "3"],
    ];
    expect(seriesOfTable(rows[0] ?? [], rows.slice(1))).toEqual([
      {
        label: "a",
        points: [
          [day(1), 1],
          [day(3), 3],
        ],
      },
      { label: "b", points: [[day(2), 2]] },
    ]);
  });

  it.each([
    [
      "no times",
      ["a", "b"],
      [
        ["x", "1"],
        ["y", "2"],
        ["z", "3"],
      ],
    ],
    [
      "numbers that nobody calls times",
      ["id", "n"],
      [
        ["1763000000", "1"],
        ["1763000001", "2"],
        ["1763000002", "3"],
      ],
    ],
    [
      "too few",
      ["time", "n"],
      [
        ["2026-11-01", "1"],
        ["2026-11-02", "2"],
      ],
    ],
    [
      "one moment",
      ["time", "n"],
      [
        ["2026-11-01", "1"],
        ["2026-11-01", "2"],
        ["2026-11-01", "3"],
      ],
    ],
    [
      "no numbers",
      ["time", "w"],
      [
        ["2026-11-01", "a"],
        ["2026-11-02", "b"],
        ["2026-11-03", "c"],
      ],
    ],
    [
      "words and several numbers",
      ["time", "w", "n", "m"],
      [
        ["2026-11-01", "a", "1", "1"],
        ["2026-11-02", "b", "1", "1"],
        ["2026-11-03", "c", "1", "1"],
      ],
    ],
  ])("are not found with %s", (_name, head, rows) => {
    expect(seriesOfTable(head, rows)).toBeUndefined();
  });

  it("are detected in a time that does not depend on the length of a cell", () => {
    const cell = `${"1".repeat(300_000)}x`;
    expect(
      seriesOfTable(
        ["time", "n"],
        Array.from({ length: 5 }, () => [cell, cell]),
      ),
    ).toBeUndefined();
  });

  it("may have times in seconds and milliseconds if the column is named as one of times", () => {
    const found = seriesOfTable(
      ["ts", "n"],
      [
        ["1763000000", "1"],
        ["1763000001000", "2"],
        ["1763000002", "3"],
      ],
    );
    expect(found?.[0]?.points.map(([atMs]) => atMs)).toEqual([1_763_000_000_000, 1_763_000_001_000, 1_763_000_002_000]);
  });
});

describe("the axes of a plot", () => {
  it("begin and end at round numbers, and at zero if that is near", () => {
    expect(scaleOf([3, 47])).toEqual({ from: 0, to: 50 });
    expect(scaleOf([90, 98])).toEqual({ from: 90, to: 98 });
    expect(scaleOf([5, 5])).toEqual({ from: 2.5, to: 7.5 });
    expect(scaleOf([Number.NaN])).toEqual({ from: 0, to: 1 });
    expect(ticksOf({ from: 0, to: 50 }, 5)).toEqual([0, 10, 20, 30, 40, 50]);
  });

  it("have few ticks, whatever the span", () => {
    for (const span of [1, 1000, 60_000, 864e5, 1e12, 1.7e16]) {
      const ticks = timeTicksOf({ from: -span / 2, to: span / 2 }, 6);
      expect(ticks.length, String(span)).toBeLessThanOrEqual(8);
    }
    for (const scale of [
      [-1e150, 1e150],
      [0, 5e-324],
      [1e15, 1e15 + 1],
    ])
      expect(ticksOf({ from: scale[0] ?? 0, to: scale[1] ?? 0 }, 5).length).toBeLessThanOrEqual(100);
  });
});

describe("the line of a plot", () => {
  const place = { x: (atMs: number) => atMs, y: (value: number) => value, width: 100 };

  it("breaks where values are missing, and at long gaps", () => {
    const all: readonly PlotPoint[] = [
      [0, 1],
      [1, 2],
      [2, Number.NaN],
      [3, 4],
      [4, 5],
      [50, 6],
    ];
    expect(plotPath(all, gapsOf(all), place)).toBe("M0.0 1.0h0.01L1.0 2.0M3.0 4.0h0.01L4.0 5.0M50.0 6.0h0.01");
  });

  it("keeps the highest and the lowest of the points on one pixel", () => {
    const all = Array.from({ length: 10_000 }, (_, index): PlotPoint => [
      index / 100,
      index === 5050 ? 1000 : index % 3,
    ]);
    const path = plotPath(all, Infinity, place);
    expect(path).toContain("1000.0");
    expect(path.length).toBeLessThan(10_000);
  });
});
