/** Converts objects of one kind to a table. */
import { compact, isJsonList, isJsonRecord, type Json } from "./json.ts";

interface Records {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const maxColumns = 200;
const maxCell = 1000;

/** From a list of objects, or an object that holds one table and little else; undefined for anything else. */
export function recordsIn(value: Json): Records | undefined {
  if (isJsonList(value)) return recordsOf(value);
  if (!isJsonRecord(value)) return undefined;
  const { columns, rows } = value;
  if (columns !== undefined && rows !== undefined && isJsonList(columns) && isJsonList(rows)) {
    const names = columns.map((column) => (isJsonRecord(column) ? column["name"] : column));
    if (names.every((name) => typeof name === "string") && rows.every(isJsonList))
      return { head: names, rows: rows.map((row) => row.map(cellOf)) };
  }
  return rows !== undefined && isJsonList(rows) ? recordsOf(rows) : undefined;
}

/** Undefined unless all are objects with few enough different names. */
export function recordsOf(values: readonly Json[]): Records | undefined {
  if (values.length === 0) return undefined;
  // Names are untrusted: a map has no special keys.
  const places = new Map<string, number>();
  const rows: string[][] = [];
  for (const value of values) {
    if (!isJsonRecord(value)) return undefined;
    const row: string[] = [];
    for (const [name, each] of Object.entries(value)) {
      const place = places.get(name) ?? places.size;
      if (place >= maxColumns) return undefined;
      places.set(name, place);
      row[place] = cellOf(each);
    }
    rows.push(Array.from(row, (cell) => cell ?? ""));
  }
  return places.size === 0 ? undefined : { head: [...places.keys()], rows };
}

function cellOf(value: Json): string {
  return typeof value === "string" ? value : compact(value, maxCell);
}
