/** Rows of a table, page by page: the request parameters and the response. */
import { parseJson } from "../../lib/parse-json.ts";
import { invalid, quote } from "../../errors.ts";
import type { Part } from "../../source.ts";

export interface RowLimits {
  /** Most rows on one page. */
  readonly maxRows: number;
  /** Most bytes of values on one page; a single row is always returned, at least in part. */
  readonly maxBytes: number;
}

/** Most characters, or bytes, of one value in a response. */
export const maxValueLength = 10_000;

/** Rows from a position, or one row by its key. Key values are texts in the database's own format. */
export type RowsRequest =
  | { readonly limit: number; readonly after?: readonly string[] }
  | { readonly limit: 1; readonly key: readonly string[] };

export interface RowsPage {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The columns that identify a row; absent if there are none. */
  readonly key?: readonly string[];
  /** Values in column order. */
  readonly rows: readonly (readonly unknown[])[];
  /** Values that were cut: row, column, and full length. */
  readonly cut: readonly (readonly [row: number, column: string, length: number])[];
  /** The key of the last row, if more follow. */
  readonly next?: readonly string[];
  /** Whether more rows follow although no key allows to continue. */
  readonly more?: boolean;
}

const maxKeyLength = 8192;

/** Undefined for a query that is not a request for rows. */
export function parseRowsRequest(
  query: Readonly<Record<string, string>>,
  { maxRows }: RowLimits,
  unlessSaid = Math.min(50, maxRows),
): RowsRequest | undefined {
  const { limit, after, key, ...strange } = query;
  if (Object.keys(strange).length > 0) return undefined;
  if (key !== undefined) {
    if (limit !== undefined || after !== undefined) throw invalid("a key selects one row; remove limit and after");
    return { limit: 1, key: parseKey(key, "key") };
  }
  return {
    limit: limit === undefined ? unlessSaid : parseLimit(limit, maxRows),
    ...(after !== undefined && { after: parseKey(after, "after") }),
  };
}

function parseLimit(limit: string, maxRows: number): number {
  const count = /^[1-9]\d{0,8}$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw invalid(`limit must be a whole number from 1 to ${maxRows}, not ${quote(limit, 40)}`);
  return Math.min(count, maxRows);
}

/** A unique text for the values of a key, whatever they contain. */
export function formatKey(values: readonly string[]): string {
  // A single plain value is not encoded, so that a person can write it.
  const [only] = values;
  if (values.length === 1 && only !== undefined && /^[\w-][\w.:-]{0,199}$/.test(only)) return only;
  return `~${Buffer.from(JSON.stringify(values), "utf8").toString("base64url")}`;
}

export function parseKey(written: string, what: string): readonly string[] {
  const refused = () => invalid(`${what} is not a key of a row; copy it unchanged from the previous page`);
  if (written === "" || written.length > maxKeyLength) throw refused();
  if (!written.startsWith("~")) return [written];
  const values = parseJson(Buffer.from(written.slice(1), "base64url").toString("utf8"));
  const isKey = Array.isArray(values) && values.every((each) => typeof each === "string" && !each.includes("\0"));
  if (!isKey || values.length === 0) throw refused();
  return values as string[];
}

export function rowsPart(about: Readonly<Record<string, string>>, page: RowsPage, limit: number): Part {
  const { columns, key, rows, cut, next, more } = page;
  const after = next && formatKey(next);
  const content = {
    ...about,
    columns,
    ...(key && { key }),
    rows: rows.map((values) => Object.fromEntries(columns.map(({ name }, index) => [name, values[index] ?? null]))),
    ...(cut.length > 0 && { cut: cut.map(([row, column, length]) => ({ row, column, length })) }),
    ...(after !== undefined && { next: after }),
    ...(more && { more }),
  };
  return {
    body: { text: JSON.stringify(content) },
    mimeType: "application/json",
    ...(after !== undefined && {
      meta: { "pressmark/range": { next: `limit=${limit}&after=${encodeURIComponent(after)}` } },
    }),
  };
}

/** A number if JSON can represent it without loss; otherwise its text. */
export function numberOrText(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : text;
}

/** Parsed JSON; a text if it is nested too deeply. */
export function jsonOrText(text: string): unknown {
  const value = (text.match(/[[{]/g)?.length ?? 0) > 500 ? undefined : parseJson(text);
  return value === undefined ? text : value;
}
