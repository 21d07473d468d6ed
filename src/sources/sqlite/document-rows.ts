/** Rows of a table as documents, read in the process that has the file open. */
import { createHash } from "node:crypto";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import {
  type DocumentRow,
  type DocumentText,
  maxTextLength,
  maxTitleLength,
} from "../../backends/sql/document-table.ts";
import { maxValueLength } from "../../backends/sql/rows.ts";
import { quoteIdentifier } from "../../backends/sql/segments.ts";
import { keyText, type KeyValue } from "./values.ts";

export interface DocumentsQuery {
  readonly kind: "documents";
  readonly table: string;
  readonly title: readonly string[];
  readonly text: readonly string[];
  /** The rows after a key in descending order, or those with these keys. */
  readonly request:
    | { readonly limit: number; readonly before?: readonly KeyValue[] }
    | { readonly keys: readonly (readonly KeyValue[])[]; readonly withTexts: boolean };
}

export interface DocumentsResult {
  /** Names of all columns. */
  readonly columns: readonly string[];
  /** False if rows of the table have no lasting key, as in a view. */
  readonly hasKey: boolean;
  /** Absent if a column is missing. */
  readonly rows?: readonly DocumentRow[];
}

/** `keys` are the expressions of the key; undefined if the table has none. */
export function documentRows(
  database: DatabaseSync,
  query: DocumentsQuery,
  columns: readonly string[],
  keys: readonly string[] | undefined,
): DocumentsResult {
  const { table, title, text, request } = query;
  const named = [...title, ...text];
  if (keys === undefined || named.some((name) => !columns.includes(name)))
    return { columns, hasKey: keys !== undefined };
  const asked = "keys" in request ? request.keys : request.before ? [request.before] : [];
  if (asked.some((key) => key.length !== keys.length)) return { columns, hasKey: true, rows: [] };
  const condition = `(${keys.join(", ")}) ${"keys" in request ? "=" : "<"} (${keys.map(() => "?").join(", ")})`;
  const where = asked.length === 0 ? "" : `WHERE ${asked.map(() => condition).join(" OR ")}`;
  // The row is also read with its other columns, cut: they count for its version.
  const others = columns.filter((name) => !named.includes(name)).map(quoteIdentifier);
  const cells = [
    ...keys.map((each, index) => `${each} AS k${index}`),
    ...named.map((name, index) => `${quoteIdentifier(name)} AS c${index}`),
    ...others.map(
      (name, index) =>
        `CASE WHEN typeof(${name}) IN ('text', 'blob') THEN substr(${name}, 1, ${maxValueLength}) ELSE ${name} END AS o${index},
         CASE WHEN typeof(${name}) IN ('text', 'blob') THEN length(${name}) END AS l${index}`,
    ),
  ];
  const statement = database.prepare(
    `SELECT ${cells.join(", ")} FROM ${quoteIdentifier(table)} ${where}
     ORDER BY ${keys.map((each) => `${each} DESC`).join(", ")} LIMIT ${"keys" in request ? asked.length : request.limit}`,
  );
  statement.setReadBigInts(true);
  const rows: DocumentRow[] = [];
  for (const row of statement.iterate(...asked.flat().map(({ value }) => value))) {
    const values = named.map((_, index) => row[`c${index}`] ?? null);
    const rest = others.flatMap((_, index) => [row[`o${index}`] ?? null, row[`l${index}`] ?? null]);
    const hash = createHash("sha256").update(JSON.stringify(columns));
    for (const value of [...values, ...rest].map(keyText)) hash.update(`${value.length}:${value}`);
    const [titles, texts] = [values.slice(0, title.length), values.slice(title.length)];
    rows.push({
      key: keys.map((_, index) => keyText(row[`k${index}`] ?? null)),
      title: titles.map((value) => toText(value)?.slice(0, maxTitleLength) ?? null),
      version: hash.digest("base64url").slice(0, 22),
      ...("keys" in request &&
        request.withTexts && { texts: texts.map((value, at) => toDocumentText(text[at]!, value)) }),
    });
  }
  return { columns, hasKey: true, rows };
}

/** Bytes have no text. */
function toText(value: SQLOutputValue): string | undefined {
  return value === null || value instanceof Uint8Array ? undefined : String(value);
}

function toDocumentText(column: string, value: SQLOutputValue): DocumentText {
  const text = toText(value) ?? "";
  return { column, text: text.slice(0, maxTextLength), length: text.length };
}
