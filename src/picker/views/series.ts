/** Extracts values over time from Prometheus results and from tables with a column of times. */
import { isRecord } from "../loose.ts";

export interface PlotSeries {
  readonly label: string;
  /** Milliseconds since 1970 and a value, in order of time. A value that is not a number is a gap. */
  readonly points: readonly PlotPoint[];
}

export type PlotPoint = readonly [atMs: number, value: number];

/** The largest time of JavaScript's Date. */
const lastMs = 8.64e15;
/** Larger values cannot be drawn. */
const largest = 1e150;

/** From a Prometheus range query result; undefined for anything else. */
export function seriesOfMatrix(value: unknown): readonly PlotSeries[] | undefined {
  const data = isRecord(value) && isRecord(value["data"]) ? value["data"] : value;
  if (!isRecord(data) || data["resultType"] !== "matrix" || !Array.isArray(data["result"])) return undefined;
  const found = data["result"].filter(isRecord);
  const labels = labelsOf(found.map(({ metric }) => (isRecord(metric) ? metric : {})));
  return found.map(({ values }, index) => ({
    label: labels[index] ?? "",
    points: inOrder(
      (Array.isArray(values) ? values : []).flatMap((pair: unknown): PlotPoint[] =>
        Array.isArray(pair) && typeof pair[0] === "number" && Math.abs(pair[0] * 1000) <= lastMs
          ? [[pair[0] * 1000, valueOf(pair[1])]]
          : [],
      ),
    ),
  }));
}

/** Labels that are equal in all series are left out, unless nothing would remain. */
function labelsOf(metrics: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  const isShared = (name: string, value: unknown): boolean =>
    metrics.length > 1 && metrics.every((metric) => Object.hasOwn(metric, name) && metric[name] === value);
  return metrics.map((metric) => {
    const all = Object.entries(metric);
    const own = all.filter(([name, value]) => !isShared(name, value));
    const shown = own.length > 0 ? own : all;
    const name = shown.find(([key]) => key === "__name__")?.[1];
    const rest = shown.filter(([key]) => key !== "__name__").map(([key, value]) => `${key}="${String(value)}"`);
    return `${typeof name === "string" ? name : ""}${rest.length > 0 ? `{${rest.join(", ")}}` : ""}` || "{}";
  });
}

const timeNames =
  /^(?:time|times|timestamp|date|datetime|date_time|day|month|ts|at|when|created_at|日時|日付|時刻|年月日|年月)$/i;
const valueNames = /^(?:value|val|v|値|数値)$/i;
/** Maximum length of a number. */
const maxNumber = 40;
const looked = 100;
const maxGroups = 50;
const fewest = 3;

/** One for each column of numbers; or one for each value of a column of words. Undefined if there are none. */
export function seriesOfTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly PlotSeries[] | undefined {
  const first = rows.slice(0, looked);
  if (first.length < fewest) return undefined;
  const columns = head.map((name, index) => ({ name: name.trim(), index, cells: filled(first, index) }));
  const time = columns.find(({ name, cells }) => isTimes(name, cells));
  if (!time) return undefined;
  const others = columns.filter((column) => column !== time && column.cells.length > 0);
  const numbers = others.filter(({ cells }) => cells.every((cell) => isNumber(cell)));
  const words = others.filter((column) => !numbers.includes(column));
  const timed = rows.flatMap((row) => {
    const atMs = timeOf(row[time.index] ?? "");
    return atMs === undefined ? [] : [{ atMs, row }];
  });
  if (numbers.length === 0 || new Set(timed.map(({ atMs }) => atMs)).size < fewest) return undefined;
  if (words.length === 0)
    return numbers.map(({ name, index }) => ({
      label: name || String(index + 1),
      points: inOrder(timed.map(({ atMs, row }) => [atMs, numberOf(row[index] ?? "")])),
    }));
  const value = numbers.find(({ name }) => valueNames.test(name)) ?? (numbers.length === 1 ? numbers[0] : undefined);
  if (!value) return undefined;
  const groups = new Map<string, PlotPoint[]>();
  for (const { atMs, row } of timed) {
    const label = words.map(({ index }) => row[index] ?? "").join(" · ");
    const points = groups.get(label);
    if (points) points.push([atMs, numberOf(row[value.index] ?? "")]);
    else groups.set(label, [[atMs, numberOf(row[value.index] ?? "")]]);
    if (groups.size > maxGroups) return undefined;
  }
  return [...groups].map(([label, points]) => ({ label, points: inOrder(points) }));
}

function filled(rows: readonly (readonly string[])[], index: number): readonly string[] {
  return rows.flatMap((row) => (row[index]?.trim() ? [row[index].trim()] : []));
}

function isTimes(name: string, cells: readonly string[]): boolean {
  if (cells.length === 0) return false;
  const isNamed = timeNames.test(name);
  return cells.every((cell) => timeOf(cell) !== undefined && (isNamed || !isNumber(cell)));
}

const written =
  /^(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|[-+]\d{2}:?\d{2})?)?$/;

/** Seconds or milliseconds since 1970, or a written date; without a zone, in the person's own. */
function timeOf(cell: string): number | undefined {
  const text = cell.trim();
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return Number(text) * (Number(text) < 1e11 ? 1000 : 1);
  const [all, year = "", month = "", day = "1", clock = "0:00", zone = ""] = written.exec(text) ?? [];
  if (all === undefined) return undefined;
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const time = clock.indexOf(":") === 1 ? `0${clock}` : clock;
  const atMs = Date.parse(`${date}T${time}${zone.replace(/^([-+]\d{2})(\d{2})$/, "$1:$2")}`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

export function isNumber(cell: string): boolean {
  return (
    cell.length <= maxNumber &&
    /^[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?%?$|^[-+]?(?:nan|inf(?:inity)?)$/i.test(cell)
  );
}

function numberOf(cell: string): number {
  return valueOf(cell.trim().replaceAll(",", "").replace(/%$/, ""));
}

function valueOf(value: unknown): number {
  const number = typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : Number.NaN;
  return Math.abs(number) <= largest ? number : Number.NaN;
}

function inOrder(points: readonly PlotPoint[]): readonly PlotPoint[] {
  return points.every(([atMs], index) => index === 0 || (points[index - 1]?.[0] ?? 0) <= atMs)
    ? points
    : points.toSorted(([one], [other]) => one - other);
}
