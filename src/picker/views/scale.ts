/** Computes the ticks and labels of a plot's axes. */

export interface Scale {
  readonly from: number;
  readonly to: number;
}

/** A little larger than the range of the values; never empty. */
export function scaleOf(values: Iterable<number>): Scale {
  let [from, to] = [Infinity, -Infinity];
  for (const value of values)
    if (Number.isFinite(value)) {
      from = Math.min(from, value);
      to = Math.max(to, value);
    }
  if (from > to) return { from: 0, to: 1 };
  if (from === to) return { from: from - (Math.abs(from) || 1) / 2, to: to + (Math.abs(to) || 1) / 2 };
  // A scale that begins near zero begins at zero.
  if (from > 0 && from < to / 3) from = 0;
  const step = stepOf(from, to, 5);
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step };
}

/** About this many round numbers between the ends. */
export function ticksOf({ from, to }: Scale, count: number): readonly number[] {
  const step = stepOf(from, to, count);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, Math.min(100, last - first + 1)) }, (_, index) => (first + index) * step);
}

function stepOf(from: number, to: number, count: number): number {
  const rough = Math.max((to - from) / count, Number.MIN_VALUE * 1e6);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) ?? 10;
  return step * power;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  second,
  5 * second,
  15 * second,
  30 * second,
  minute,
  5 * minute,
  15 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  7 * day,
  14 * day,
  30 * day,
  90 * day,
  365 * day,
];

/** Round times of the person's time zone. */
export function timeTicksOf({ from, to }: Scale, count: number): readonly number[] {
  const rough = (to - from) / count;
  const step = steps.find((each) => each >= rough) ?? Math.ceil(rough / (365 * day)) * 365 * day;
  const offset = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - offset) / step) * step + offset;
  return Array.from(
    { length: Math.max(0, Math.min(100, Math.floor((to - first) / step) + 1)) },
    (_, index) => first + index * step,
  );
}

/** As short as the range allows. */
export function timeFormatOf({ from, to }: Scale, code: string): Intl.DateTimeFormat {
  const span = to - from;
  if (span <= 10 * minute)
    return new Intl.DateTimeFormat(code, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  if (span <= 2 * day) return new Intl.DateTimeFormat(code, { hour: "2-digit", minute: "2-digit" });
  if (span <= 300 * day) return new Intl.DateTimeFormat(code, { month: "short", day: "numeric" });
  return new Intl.DateTimeFormat(code, { year: "numeric", month: "short" });
}
