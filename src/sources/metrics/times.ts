/** Parses ranges and steps, and fits them to the limit of points. */
import { invalid, quote } from "../../errors.ts";

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
  /** Whether it ends at the current time. */
  readonly isMoving: boolean;
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};
const longestMs = 100 * 365 * 86_400_000;
/** Most points of one series that servers return. */
export const mostPoints = 11_000;

const { s, m, h, d } = units as Record<"s" | "m" | "h" | "d", number>;
const steps = [
  ...[1, 2, 5, 10, 15, 20, 30].map((each) => each * s),
  ...[1, 2, 5, 10, 15, 20, 30].map((each) => each * m),
  ...[1, 2, 3, 4, 6, 8, 12].map((each) => each * h),
  ...[1, 2, 7, 14, 28].map((each) => each * d),
];

/** `90s`, `1h30m`, `7d`, or seconds. Throws "invalid" for anything else. */
export function parseDuration(text: string, what: string): number {
  let ms = 0;
  if (/^\d{1,12}(?:\.\d{1,3})?$/.test(text)) ms = Math.round(Number(text) * 1000);
  else if (/^(?:\d{1,10}(?:ms|[smhdwy]))+$/.test(text) && text.length <= 60)
    for (const [, count, unit] of text.matchAll(/(\d{1,10})(ms|[smhdwy])/g))
      ms += Number(count) * units[unit as string]!;
  if (!(ms > 0 && ms <= longestMs))
    throw invalid(`${what}=${quote(text, 40)} is not a duration; write 30s, 15m, 1h30m or 7d`);
  return ms;
}

/** A duration up to now, or two times separated by a slash. */
export function parseTimeRange(text: string, nowMs: number): Span {
  const slash = text.indexOf("/");
  // Whole seconds, so that simultaneous requests are identical.
  const endMs = Math.floor(nowMs / 1000) * 1000;
  if (slash < 0) return { startMs: endMs - parseDuration(text, "range"), endMs, isMoving: true };
  const from = parseTime(text.slice(0, slash), text);
  const to = parseTime(text.slice(slash + 1), text);
  if (from >= to) throw invalid(`range=${quote(text, 80)} ends before it begins`);
  if (to - from > longestMs) throw invalid(`range=${quote(text, 80)} is longer than a hundred years`);
  return { startMs: from, endMs: to, isMoving: false };
}

function parseTime(text: string, whole: string): number {
  const isSeconds = /^\d{1,11}(?:\.\d{1,3})?$/.test(text);
  const isDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const ms = isSeconds ? Math.round(Number(text) * 1000) : isDate ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw invalid(
    `range=${quote(whole, 80)} is not a range; write 1h, or 2026-01-01T00:00:00Z/2026-01-01T06:00:00Z with times in UTC or with an offset`,
  );
}

/** The shortest common step with which no series has more points than this. */
export function chooseStep(spanMs: number, points: number, leastMs: number): number {
  const most = Math.max(2, Math.min(points, mostPoints));
  const least = Math.max(leastMs, spanMs / (most - 1));
  return steps.find((step) => step >= least) ?? Math.ceil(least / (28 * d)) * 28 * d;
}

export function pointsIn(spanMs: number, stepMs: number): number {
  return Math.floor(spanMs / stepMs) + 1;
}

/** In PromQL notation. */
export function formatDuration(ms: number): string {
  for (const [unit, length] of [
    ["d", d],
    ["h", h],
    ["m", m],
    ["s", s],
  ] as const)
    if (ms % length === 0) return `${ms / length}${unit}`;
  return `${Math.ceil(ms)}ms`;
}
