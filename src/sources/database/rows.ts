/** Rows of a table, page by page: what may be asked for, and what is given. */
import { invalid, quote } from "../../errors.ts";
import type { Part } from "../../source.ts";

export interface RowLimits {
  /** How many rows are given at once. */
  readonly maxRows: number;
  /** How many bytes of values are given at once; of a single row always something. */
  readonly maxBytes: number;
}

/** So many characters, or bytes, of one value are given. */
export const maxValueLength = 10_000;

/** Rows from a place on, or one row by its key. The key's values are the database's own texts. */
export type RowsAsk =
  | { readonly limit: number; readonly after?: readonly string[] }
  | { readonly limit: 1; readonly key: readonly string[] };

export interface RowsPage {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** What rows are found again by; absent where they cannot be. */
  readonly key?: readonly string[];
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[];
  /** Values that are longer than what is given: row, column, and how long they are. */
  readonly cut: readonly (readonly [row: number, column: string, length: number])[];
  /** The key of the last row, where more follow. */
  readonly next?: readonly string[];
  /** Whether more follow although there is no key to go on from. */
  readonly more?: boolean;
}

const maxKeyLength = 8192;

/** Undefined for a query that rows are not asked for with. */
export function parseRowsAsk(
  query: Readonly<Record<string, string>>,
  { maxRows }: RowLimits,
  unlessSaid = Math.min(50, maxRows),
): RowsAsk | undefined {
  const { limit, after, key, ...strange } = query;
  if (Object.keys(strange).length > 0) return undefined;
  if (key !== undefined) {
    if (limit !== undefined || after !== undefined) throw invalid("a key names one row; leave limit and after out");
    return { limit: 1, key: parseKey(key, "key") };
  }
  return {
    limit: limit === undefined ? unlessSaid : parseLimit(limit, maxRows),
    ...(after !== undefined && { after: parseKey(after, "after") }),
  };
}

function parseLimit(limit: string, maxRows: number): number {
  const count = /^[1-9]\d{0,8}$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw invalid(`limit is a whole number from 1 to ${maxRows}, not ${quote(limit, 40)}`);
  return Math.min(count, maxRows);
}

/** One spelling for the texts of a key, whatever they hold. */
export function formatKey(values: readonly string[]): string {
  // A single plain value stands as it is, so that a person may write it.
  const [only] = values;
  if (values.length === 1 && only !== undefined && /^[\w-][\w.:-]{0,199}$/.test(only)) return only;
  return `~${Buffer.from(JSON.stringify(values), "utf8").toString("base64url")}`;
}

function parseKey(spelled: string, what: string): readonly string[] {
  const refused = () => invalid(`${what} is no key of a row; take it from the page before, as it is`);
  if (spelled === "" || spelled.length > maxKeyLength) throw refused();
  if (!spelled.startsWith("~")) return [spelled];
  try {
    const values: unknown = JSON.parse(Buffer.from(spelled.slice(1), "base64url").toString("utf8"));
    const isKey = Array.isArray(values) && values.every((each) => typeof each === "string" && !each.includes("\0"));
    if (isKey && values.length > 0) return values as string[];
  } catch {
    // Whatever it is, it is no key.
  }
  throw refused();
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

/** A number as JSON may say it without loss; otherwise its text. */
export function numberOrText(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : text;
}

/** JSON that the database holds as what it says; what is nested absurdly stays a text. */
export function jsonOrText(text: string): unknown {
  if ((text.match(/[[{]/g)?.length ?? 0) > 500) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
