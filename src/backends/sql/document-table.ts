/** Tables whose rows are documents of the search index: their options, and what each kind of database provides for them. */
import type { z } from "zod";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { intOption } from "../../lib/int-option.ts";

/** Most characters of one column in the text of a document. */
export const maxTextLength = 100_000;
/** Most characters of one column in a title. */
export const maxTitleLength = 200;

/** Options of one table. */
export interface DocumentOptions {
  readonly table: string;
  readonly title: string | readonly string[];
  readonly text: readonly string[];
  readonly maxRows: number;
}

/** One row as a document. */
export interface DocumentRow {
  /** Values of the key, as texts in the database's own format. */
  readonly key: readonly string[];
  /** Values of the title columns. */
  readonly title: readonly (string | null)[];
  /** Equal versions mean equal values. */
  readonly version: string;
  /** ISO 8601. */
  readonly changedAt?: string;
  /** Values of the text columns, if requested. */
  readonly texts?: readonly DocumentText[];
}

/** The value of one text column, possibly cut, and its full length. */
export interface DocumentText {
  readonly column: string;
  readonly text: string;
  readonly length: number;
}

/** The rows after a key, in descending order of the keys: the newest first, where keys grow. */
export interface DocumentPage {
  readonly limit: number;
  readonly before?: readonly string[];
}

/** Rows by their keys. */
export interface DocumentKeys {
  readonly keys: readonly (readonly string[])[];
  readonly withTexts: boolean;
}

/** By key, as it appears in an address. */
export type RowVersions = ReadonlyMap<string, string>;

/** A table of documents. Methods throw "invalid" if the options do not fit the table, and for a key that no row can have. */
export interface DocumentTable {
  /** Path of the rows: each document is below it. */
  readonly path: string;
  /** Name of the table, for people. */
  readonly label: string;
  readonly options: DocumentOptions;
  rows(request: DocumentPage | DocumentKeys, signal: AbortSignal): Promise<readonly DocumentRow[]>;
  /** All documents. Returns the previous map if nothing has changed. */
  versions(signal: AbortSignal): Promise<RowVersions>;
  /** The documents that were changed last, if the database can find them without looking at all. */
  readonly latest?: (signal: AbortSignal) => Promise<RowVersions>;
  /** Whether the table has more rows than become documents. */
  exceeds(signal: AbortSignal): Promise<boolean>;
}

export function documentOptions<Name extends z.ZodType<string>, More extends z.core.$ZodLooseShape>(
  zod: typeof z,
  name: Name,
  more: More,
) {
  return zod
    .array(
      zod.strictObject({
        table: name.describe("Table; its rows must be served"),
        title: zod
          .union([name, zod.array(name).min(1).max(10)])
          .describe("Column or columns whose values are the title of a row"),
        text: zod.array(name).min(1).max(50).describe("Columns whose text is searched"),
        ...more,
        maxRows: intOption(zod, 1, 200_000, 50_000).describe("Most rows to index: those with the highest keys"),
      }),
    )
    .max(50)
    .optional()
    .describe("Tables whose rows are found by search, each row as a document of its own");
}

/** Throws unless the rows of the table are served. */
export function checkServed({ table }: DocumentOptions, isServed: boolean): void {
  if (!isServed) throw invalid(`"documents" names ${quote(table)}, whose rows are not served; add it to "rows"`);
}

export function titleColumns({ title }: Pick<DocumentOptions, "title">): readonly string[] {
  return typeof title === "string" ? [title] : title;
}

/** Throws for columns that the table does not have. `columns` are those that may be read. */
export function checkColumns(label: string, wanted: readonly string[], columns: ReadonlySet<string>): void {
  const missing = wanted.filter((name) => !columns.has(name));
  if (missing.length > 0)
    throw invalid(
      `"documents" names ${missing.map((name) => quote(name)).join(", ")}, which ${quote(label)} does not have or which may not be read`,
    );
}

/** Whether a table does not fit its options, or a key its table. */
export function isUnfit(cause: unknown): cause is ResourceError {
  return cause instanceof ResourceError && cause.kind === "invalid";
}

export function noSuchTable(label: string): Error {
  return invalid(`"documents" names ${quote(label)}, which does not exist or may not be read`);
}

export function noKey(label: string): Error {
  return invalid(
    `"documents" names ${quote(label)}, which has no primary key and no other unique key without nulls, so its rows have no lasting address`,
  );
}
