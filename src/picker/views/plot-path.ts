/** Computes the SVG path of a plot line, reduced to what is visible. */
import type { PlotPoint } from "./series.ts";

interface Place {
  readonly x: (atMs: number) => number;
  readonly y: (value: number) => number;
  readonly width: number;
}

/** Minimum time without points that counts as a gap: several times the usual interval. */
export function gapsOf(points: readonly PlotPoint[]): number {
  const steps = points.slice(1).map(([atMs], index) => atMs - (points[index]?.[0] ?? 0));
  const usual = steps.toSorted((one, other) => one - other)[Math.floor(steps.length / 2)];
  return usual === undefined ? Infinity : usual * 3;
}

/** Of the points on one pixel, keeps the first, the lowest, the highest and the last. */
export function plotPath(points: readonly PlotPoint[], gapMs: number, { x, y, width }: Place): string {
  const path: string[] = [];
  let before: number | undefined;
  const isDense = points.length > width * 4;
  let dot: { at: number; first: number; low: number; high: number; last: number } | undefined;
  const flush = (): void => {
    if (!dot) return;
    for (const value of [dot.first, dot.low, dot.high, dot.last]) path.push(`L${at(dot.at, value)}`);
    dot = undefined;
  };
  for (const [atMs, value] of points) {
    if (!Number.isFinite(value)) {
      flush();
      before = undefined;
      continue;
    }
    const isStart = before === undefined || atMs - before > gapMs;
    before = atMs;
    const place = Math.round(x(atMs));
    if (isStart) {
      flush();
      // A single point is drawn as a dot.
      path.push(`M${at(x(atMs), value)}h0.01`);
    } else if (!isDense) path.push(`L${at(x(atMs), value)}`);
    if (!isDense) continue;
    if (dot?.at === place) {
      dot.low = Math.min(dot.low, value);
      dot.high = Math.max(dot.high, value);
      dot.last = value;
      continue;
    }
    flush();
    dot = { at: place, first: value, low: value, high: value, last: value };
  }
  flush();
  return path.join("");

  function at(across: number, value: number): string {
    return `${across.toFixed(1)} ${y(value).toFixed(1)}`;
  }
}
