/** A matrix as JSON in the format of the API, and as CSV. */
import type { Matrix } from "./matrix.ts";
import { metricNameOf } from "./matrix.ts";

/** Readable by every client of the API. */
export function toJson({ series, warnings, infos }: Matrix, given: readonly string[]): string {
  const notes = [...infos, ...given];
  return JSON.stringify({
    status: "success",
    data: { resultType: "matrix", result: series },
    ...(warnings.length > 0 && { warnings }),
    ...(notes.length > 0 && { infos: notes }),
  });
}

/** One row for each time with a value, one column for each series; missing values are empty. */
export function matrixToCsv({ series, span, stepMs }: Matrix): string {
  const end = span.endMs / 1000;
  const step = stepMs / 1000;
  const height = Math.floor((span.endMs - span.startMs) / stepMs) + 1;
  const names = series.map(({ metric }) => metricNameOf(metric));
  let text = `${["time", ...headings(names)].join(",")}\n`;
  /** Position in each series, which is sorted by time. */
  const next = new Uint32Array(series.length);
  const row: string[] = series.map(() => "");
  for (let left = height - 1; left >= 0; left -= 1) {
    const now = end - left * step;
    let isEmpty = true;
    for (let column = 0; column < series.length; column += 1) {
      const { values } = series[column]!;
      let point = values[next[column]!];
      while (point && point[0] < now - step / 2) point = values[(next[column]! += 1)];
      const isThere = point !== undefined && point[0] < now + step / 2 && isNumber(point[1]);
      row[column] = isThere ? point![1] : "";
      if (isThere) isEmpty = false;
    }
    if (!isEmpty) text += `${new Date(span.endMs - left * stepMs).toISOString()},${row.join(",")}\n`;
  }
  return text;
}

/** Without the hidden labels, two series may have the same name. */
function headings(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return quotedCell(count === 1 ? name : `${name} #${count}`);
  });
}

function quotedCell(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const line = text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ");
  // A spreadsheet would run this as a formula.
  const harmless = /^[=+\-@]/.test(line) ? `'${line}` : line;
  return /[",]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Marks each character that occurs in numbers, including NaN and +Inf. */
const numeric = new Uint8Array(128);
for (const character of "0123456789+-.eExXabcdefINn") numeric[character.charCodeAt(0)] = 1;

/** Checks the characters only, not the value. */
function isNumber(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) if (numeric[value.charCodeAt(at)] !== 1) return false;
  return value !== "";
}
