/** A line through points, as the path of an SVG: no more of it than can be seen. */
import type { PlotPoint } from "./series.ts";

interface Place {
  readonly x: (atMs: number) => number;
  readonly y: (value: number) => number;
  readonly width: number;
}

/** From how long a silence on there is a gap: several times what is usual between two points. */
export function gapsOf(points: readonly PlotPoint[]): number {
  const steps = points.slice(1).map(([atMs], index) => atMs - (points[index]?.[0] ?? 0));
  const usual = steps.toSorted((one, other) => one - other)[Math.floor(steps.length / 2)];
  return usual === undefined ? Infinity : usual * 3;
}

/** Of the points that fall on one dot of the screen, the first, the lowest, the highest and the last. */
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
      // A point alone is a dot.
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
