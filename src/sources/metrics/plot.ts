/** A small plot of some series: one self-contained SVG for light and dark backgrounds. */
import type { Matrix, SampleSeries } from "./matrix.ts";
import { metricNameOf } from "./matrix.ts";

const width = 800;
const height = 300;
const frame = { left: 70, right: 16, top: 34, bottom: 28 };
const legendRow = 18;
/** Most series in the legend; the others are only drawn. */
const maxNamed = 12;
const maxTitle = 80;
const maxName = 110;
/** Distinguishable with colour blindness; each for light and for dark. */
const colours = [
  ["#0072b2", "#56b4e9"],
  ["#d55e00", "#ff9e4a"],
  ["#007a5a", "#2fd6a3"],
  ["#aa4499", "#e79fd0"],
  ["#7a6a00", "#f0e442"],
  ["#332288", "#b3a6ff"],
  ["#882255", "#ff7eb6"],
  ["#555555", "#bbbbbb"],
] as const;
/** When the colours repeat, the dash pattern changes. */
const dashes = ["", "6 3", "2 3", "8 3 2 3"];
const largest = 1e300;

const style = [
  "text{font:12px system-ui,sans-serif;fill:#333}",
  ".title{font-weight:600;font-size:13px}",
  ".back{fill:#fff}.grid{stroke:#ddd;stroke-width:1}.frame{stroke:#999;stroke-width:1;fill:none}",
  ".line{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}",
  ...colours.map(([light], index) => `.c${index}{stroke:${light}}`),
  "@media (prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#17181c}.grid{stroke:#33353c}.frame{stroke:#777}",
  ...colours.map(([, dark], index) => `.c${index}{stroke:${dark}}`),
  "}",
].join("");

export function toSvg({ series, span, stepMs }: Matrix, title: string, unit: string | undefined): string {
  const named = series.slice(0, maxNamed);
  const more = series.length - named.length;
  const rows = named.length + (more > 0 ? 1 : 0);
  const whole = height + rows * legendRow + (rows > 0 ? 8 : 0);
  const numbers = series.map(numbersOf);
  const [low, high] = extent(numbers);
  const ticks = niceTicks(low, high);
  const [bottom, top] = [Math.min(low, ticks[0] ?? low), Math.max(high, ticks.at(-1) ?? high)];
  const inner = { width: width - frame.left - frame.right, height: height - frame.top - frame.bottom };
  const [start, end] = [span.startMs / 1000, span.endMs / 1000];
  const x = (seconds: number) => frame.left + ((seconds - start) / (end - start)) * inner.width;
  const y = (value: number) => frame.top + ((top - value) / (top - bottom)) * inner.height;
  const heading = cut(title, maxTitle) + (unit === undefined ? "" : ` (${unit})`);
  const about = `${series.length} series from ${time(span.startMs)} to ${time(span.endMs)}, a point every ${stepMs / 1000} s`;

  const drawn = series.map((each, index) => {
    const path = pathOf(each, numbers[index]!, { x, y, start, end, step: stepMs / 1000 });
    return path === "" ? "" : `<path class="line c${index % colours.length}"${dashOf(index)} d="${path}"/>`;
  });
  const isEmpty = drawn.every((each) => each === "");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" role="img">`,
    `<title>${escape(heading)}</title><desc>${escape(about)}</desc><style>${style}</style>`,
    `<rect class="back" width="${width}" height="${whole}"/>`,
    `<text class="title" x="${frame.left}" y="20">${escape(heading)}</text>`,
    `<text x="${width - frame.right}" y="20" text-anchor="end">${time(span.endMs).slice(0, 10)} UTC</text>`,
    ...(isEmpty ? [] : ticks.map((tick) => tickLine(tick, y(tick), ticks))),
    ...timeTicks(span.startMs, span.endMs).map((ms) => timeTick(x(ms / 1000), ms, span.endMs - span.startMs)),
    `<rect class="frame" x="${frame.left}" y="${frame.top}" width="${inner.width}" height="${inner.height}"/>`,
    ...drawn.filter((each) => each !== ""),
    ...(isEmpty
      ? [`<text x="${width / 2}" y="${frame.top + inner.height / 2}" text-anchor="middle">no data in this range</text>`]
      : []),
    ...named.map((each, index) => legend(metricNameOf(each.metric), index)),
    ...(more > 0
      ? [`<text x="${frame.left + 26}" y="${height + 14 + named.length * legendRow}">and ${more} more</text>`]
      : []),
    "</svg>\n",
  ].join("\n");
}

/** NaN for everything that cannot be drawn, infinities included. */
function numbersOf({ values }: SampleSeries): Float64Array {
  const numbers = new Float64Array(values.length);
  for (let at = 0; at < values.length; at += 1) {
    const value = +values[at]![1];
    numbers[at] = value >= -largest && value <= largest ? value : Number.NaN;
  }
  return numbers;
}

function extent(all: readonly Float64Array[]): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const numbers of all)
    for (let at = 0; at < numbers.length; at += 1) {
      const value = numbers[at]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (low > high) return [0, 1];
  if (low < high) return [low, high];
  const around = low === 0 ? 1 : Math.abs(low) / 10;
  return [low - around, high + around];
}

interface Scale {
  x(seconds: number): number;
  y(value: number): number;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** If many points share a pixel column, only the lowest and the highest are drawn. */
function pathOf({ values }: SampleSeries, numbers: Float64Array, { x, y, start, end, step }: Scale): string {
  let path = "";
  let before = -Infinity;
  let column = -1;
  let low = 0;
  let high = 0;
  let isRising = true;
  let isPen = false;

  function flush(): void {
    if (column < 0) return;
    const [first, last] = isRising ? [low, high] : [high, low];
    path += `${isPen ? "L" : "M"}${column} ${round(y(first))}`;
    // A zero-length line is drawn as a dot.
    if (first !== last) path += `L${column} ${round(y(last))}`;
    else if (!isPen) path += "h0";
    isPen = true;
    column = -1;
  }

  for (let index = 0; index < values.length; index += 1) {
    const seconds = values[index]![0];
    const value = numbers[index]!;
    if (Number.isNaN(value) || seconds < start - step || seconds > end + step) {
      flush();
      isPen = false;
      continue;
    }
    const at = Math.round(x(seconds));
    if (seconds - before > 1.5 * step) {
      flush();
      isPen = false;
    }
    before = seconds;
    if (at === column) {
      isRising = value >= high ? true : value <= low ? false : isRising;
      low = Math.min(low, value);
      high = Math.max(high, value);
    } else {
      flush();
      column = at;
      low = high = value;
      isRising = true;
    }
  }
  flush();
  return path;
}

function dashOf(index: number): string {
  const dash = dashes[Math.floor(index / colours.length) % dashes.length];
  return dash ? ` stroke-dasharray="${dash}"` : "";
}

function legend(name: string, index: number): string {
  const y = height + 10 + index * legendRow;
  return (
    `<path class="line c${index % colours.length}"${dashOf(index)} d="M${frame.left} ${y}h18"/>` +
    `<text x="${frame.left + 26}" y="${y + 4}">${escape(cut(name, maxName))}</text>`
  );
}

function tickLine(value: number, y: number, ticks: readonly number[]): string {
  const at = round(y);
  return (
    `<path class="grid" d="M${frame.left} ${at}H${width - frame.right}"/>` +
    `<text x="${frame.left - 6}" y="${at + 4}" text-anchor="end">${short(value, ticks)}</text>`
  );
}

function timeTick(x: number, ms: number, spanMs: number): string {
  const at = round(x);
  return (
    `<path class="grid" d="M${at} ${frame.top}V${height - frame.bottom}"/>` +
    `<text x="${at}" y="${height - 10}" text-anchor="middle">${shortTime(ms, spanMs)}</text>`
  );
}

/** About five, at 1, 2 or 5 times a power of ten. */
function niceTicks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  if (!(step > 0) || !Number.isFinite(step)) return [low, high];
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  if (last - first > 20) return [low, high];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

const timeSteps = [1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];

function timeTicks(startMs: number, endMs: number): number[] {
  const rough = (endMs - startMs) / 1000 / 6;
  const weeks = Math.ceil(rough / 604_800);
  const step = (timeSteps.find((each) => each >= rough) ?? weeks * 604_800) * 1000;
  const ticks: number[] = [];
  for (let ms = Math.ceil(startMs / step) * step; ms <= endMs; ms += step) ticks.push(ms);
  return ticks;
}

function shortTime(ms: number, spanMs: number): string {
  const iso = new Date(ms).toISOString();
  if (spanMs > 3 * 86_400_000) return iso.slice(0, 10);
  if (spanMs > 86_400_000) return `${iso.slice(5, 10)} ${iso.slice(11, 16)}`;
  return spanMs > 600_000 ? iso.slice(11, 16) : iso.slice(11, 19);
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** As short as the distance between two ticks allows. */
function short(value: number, ticks: readonly number[]): string {
  const step = Math.abs((ticks[1] ?? value) - (ticks[0] ?? 0));
  if (value === 0 || Math.abs(value) < step / 1000) return "0";
  const size = Math.abs(value);
  for (const [limit, sign] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const)
    if (size >= limit && size < 1e15) {
      const unit = limit === 1e4 ? 1e3 : limit;
      return `${trimmed(value / unit, step / unit)}${sign}`;
    }
  return size >= 1e15 || size < 1e-4 ? value.toExponential(1) : trimmed(value, step);
}

function trimmed(value: number, step: number): string {
  const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step || 1))));
  return value.toFixed(digits);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function escape(text: string): string {
  return (
    text
      .toWellFormed()
      // What XML has no way to write.
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      .replaceAll(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]+/g, " ")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}
