/** The figures of servers as a table for a terminal. */
import { displayWidth } from "../../lib/display-width.ts";
import { formatBytes } from "../../lib/format-bytes.ts";
import { plain } from "../print.ts";
import type { InstanceFigures, RateRow } from "./instance-figures.ts";

/** A server that was looked at. */
export interface ShownInstance {
  readonly url: string;
  readonly figures?: InstanceFigures;
  /** Why there are no figures. */
  readonly problem?: string;
}

const head = ["instance", "req/s", "err/s", "p50", "p95", "listens", "index", "bus", "leases", "cpu", "memory", "up"];
const maxRows = 10;

/** Lines of at most `columns` cells. For one server, also its methods and sources. */
export function showFigures(instances: readonly ShownInstance[], columns = Infinity): string[] {
  const rows = instances.map(({ url, figures, problem }) =>
    figures ? [hostOf(url), ...cellsOf(figures)] : [hostOf(url), plain(problem ?? "")],
  );
  const [only, ...others] = instances;
  const details = only?.figures && others.length === 0 ? detailsOf(only.figures) : [];
  return [...align([head, ...rows]), ...details].map((line) => cut(line, columns));
}

function cellsOf(figures: InstanceFigures): string[] {
  const { requestsPerSecond, errorsPerSecond, p50Ms, p95Ms, listens, bus, leases, cpu, memoryBytes } = figures;
  return [
    amount(requestsPerSecond),
    amount(errorsPerSecond),
    milliseconds(p50Ms),
    milliseconds(p95Ms),
    String(listens),
    indexState(figures.index),
    bus ? (bus.connected ? `${bus.engine}${bus.lag > 0 ? ` -${bus.lag}` : ""}` : `${bus.engine} DOWN`) : "-",
    leases ? `${leases.held}${leases.expired > 0 ? ` (${leases.expired} without leader)` : ""}` : "-",
    `${Math.round(cpu * 100)}%`,
    formatBytes(memoryBytes),
    duration(figures.uptimeSeconds),
  ];
}

function indexState({ documents, pending, ready }: InstanceFigures["index"]): string {
  if (documents === 0 && pending === 0) return "-";
  return ready === 1 ? String(documents) : `${documents}, ${pending} waiting`;
}

function detailsOf({ methods, sources, spanSeconds }: InstanceFigures): string[] {
  if (methods.length === 0) return [];
  return ["", ...table("method", methods), "", ...table("source", sources), "", `over ${duration(spanSeconds)}`];
}

function table(title: string, rows: readonly RateRow[]): string[] {
  const cells = rows
    .slice(0, maxRows)
    .map(({ name, perSecond, errorsPerSecond, p95Ms }) => [
      plain(name),
      amount(perSecond),
      amount(errorsPerSecond),
      milliseconds(p95Ms),
    ]);
  return align([[title, "req/s", "err/s", "p95"], ...cells]);
}

/** The last cell of a row may be any length. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.map((row) => (column < row.length - 1 ? displayWidth(row[column]!) : 0))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell))))
      .join("  ")
      .trimEnd(),
  );
}

function cut(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line;
  let [shown, width] = ["", 0];
  for (const character of line) {
    width += displayWidth(character);
    if (width > columns) break;
    shown += character;
  }
  return shown;
}

function hostOf(url: string): string {
  return plain(new URL(url).host);
}

function amount(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value > 0 && value < 0.1 ? 3 : 1);
}

function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** `42 s`, `3 min`, `5 h`, `2 d` */
function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
