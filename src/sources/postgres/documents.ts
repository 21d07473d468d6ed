/** Rows of PostgreSQL tables as documents. */
import { createHash } from "node:crypto";
import { invalid, quote } from "../../errors.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { TableRef } from "../../backends/sql/allow-list.ts";
import { fullName } from "../../backends/sql/description.ts";
import {
  checkColumns,
  type DocumentOptions,
  type DocumentKeys,
  type DocumentPage,
  type DocumentRow,
  type DocumentTable,
  type DocumentText,
  maxTextLength,
  maxTitleLength,
  noKey,
  noSuchTable,
  type RowVersions,
  titleColumns,
} from "../../backends/sql/document-table.ts";
import { formatKey } from "../../backends/sql/rows.ts";
import { quoteIdentifier } from "../../backends/sql/segments.ts";
import { postgresPath } from "./addresses.ts";
import type { PostgresConnection, PostgresQuery, PostgresRow } from "./connection.ts";
import { compareKey, type KeyColumn, relationOf, type Shape, type ShapeColumn, textOf } from "./rows.ts";

/** `changedAt` is a column whose values grow with each change. */
type PostgresDocumentOptions = DocumentOptions & { readonly changedAt?: string };

interface PostgresDocumentsOptions {
  readonly ref: TableRef;
  readonly options: PostgresDocumentOptions;
  readonly connection: Pick<PostgresConnection, "queryTables">;
  /** Undefined if the table does not exist or may not be read. */
  shapeOf(schema: string, table: string, signal: AbortSignal): Promise<Shape | undefined>;
}

/** Number of rows in a page of versions. */
const versionsPage = 5000;
/** Number of rows that are compared first after a change. */
const mostLatest = 1000;

/** How long the shape of a table is used to read texts. */
const shapeMs = 1000;

/** The shape of a table that fits the options. */
interface DocumentShape {
  readonly relation: string;
  readonly key: readonly KeyColumn[];
  readonly title: readonly ShapeColumn[];
  readonly text: readonly ShapeColumn[];
  readonly changedAt: ShapeColumn | undefined;
  /** Changes with every update of a row, in one cluster: the row's last writer, if it may be read, else its content. */
  readonly writer: string;
  /** Hash of all columns: also differs for a row with the same key and writer in a database that was created anew. */
  readonly content: string;
}

export function createPostgresDocuments({
  ref,
  options,
  connection,
  shapeOf,
}: PostgresDocumentsOptions): DocumentTable {
  const label = fullName(ref);
  let lately: { readonly shape: DocumentShape; readonly sinceMs: number } | undefined;
  let last: { readonly digest: string; readonly versions: RowVersions } | undefined;

  async function shaped(signal: AbortSignal): Promise<DocumentShape> {
    const shape = await shapeOf(ref.schema, ref.table, signal);
    if (shape === undefined) throw noSuchTable(label);
    return toDocumentShape(shape, label, options);
  }

  /** A first pass reads thousands of texts, and looking up the shape takes longer than reading a row. */
  async function shapedLately(signal: AbortSignal): Promise<DocumentShape> {
    if (!lately || monotonicMs() - lately.sinceMs > shapeMs) {
      const shape = await shaped(signal);
      lately = { shape, sinceMs: monotonicMs() };
    }
    return lately.shape;
  }

  async function query(request: PostgresQuery, signal: AbortSignal): Promise<readonly PostgresRow[]> {
    return connection.queryTables(request, signal);
  }

  async function pairs(request: PostgresQuery, signal: AbortSignal) {
    return (await query(request, signal)).map((row) => ({
      key: row["key"] as readonly string[],
      writer: String(row["writer"]),
    }));
  }

  return {
    path: postgresPath({ kind: "rows", schema: ref.schema, name: ref.table }),
    label,
    options,

    async rows(request, signal) {
      const isText = "keys" in request && request.withTexts;
      const shape = await (isText ? shapedLately(signal) : shaped(signal));
      try {
        return (await query(rowsQuery(shape, request), signal)).map((row) => toRow(row, shape));
      } catch (cause) {
        lately = undefined;
        throw cause;
      }
    },

    async versions(signal) {
      const shape = await shaped(signal);
      // First, so that changes made during the scan are seen by the next one.
      const [row] = await query(digestQuery(shape, options.maxRows), signal);
      const digest = String(row?.["digest"]);
      if (last?.digest === digest) return last.versions;
      const versions = new Map<string, string>();
      let before: readonly string[] | undefined;
      for (let left = options.maxRows; left > 0; left -= versionsPage) {
        const page = await pairs(versionsQuery(shape, Math.min(left, versionsPage), before), signal);
        for (const { key, writer } of page) versions.set(formatKey(key), writer);
        if (page.length < versionsPage) break;
        before = page.at(-1)?.key;
      }
      last = { digest, versions };
      return versions;
    },

    ...(options.changedAt !== undefined && {
      async latest(signal: AbortSignal) {
        const page = await pairs(latestQuery(await shaped(signal)), signal);
        return new Map(page.map(({ key, writer }) => [formatKey(key), writer]));
      },
    }),

    async exceeds(signal) {
      const { relation } = await shaped(signal);
      return (await query({ text: `SELECT FROM ${relation} OFFSET ${options.maxRows} LIMIT 1` }, signal)).length > 0;
    },
  };
}

function toDocumentShape(shape: Shape, label: string, options: PostgresDocumentOptions): DocumentShape {
  const columns = new Map(shape.columns.map((column) => [column.name, column]));
  const [title, text] = [titleColumns(options), options.text];
  const { changedAt } = options;
  checkColumns(label, [...title, ...text, ...(changedAt === undefined ? [] : [changedAt])], new Set(columns.keys()));
  const binary = [...title, ...text].find((name) => columns.get(name)?.base === "bytea");
  if (binary !== undefined)
    throw invalid(`"documents" names the column ${quote(binary)} of ${quote(label)}, which contains bytes and no text`);
  if (changedAt !== undefined && !/^[DNS]$/.test(columns.get(changedAt)!.category))
    throw invalid(
      `"documents" names the column ${quote(changedAt)} of ${quote(label)}, which is no time, number or text`,
    );
  // Without a key, rows are read by position, which changes when they are written.
  if (!shape.key || shape.key.some(({ expression }) => !expression.startsWith('"'))) throw noKey(label);
  const named = (names: readonly string[]) => names.map((name) => columns.get(name)!);
  const content = `'${columnsHash(shape)}' || ${hashOf(shape)}`;
  return {
    relation: relationOf(shape),
    key: shape.key,
    title: named(title),
    text: named(text),
    changedAt: changedAt === undefined ? undefined : columns.get(changedAt),
    writer: `${shape.isWhole ? `'${columnsHash(shape)}' || xmin::text` : content} AS writer`,
    content: `${content} AS content`,
  };
}

/** A row also changes with the columns of its table. */
function columnsHash({ columns }: Shape): string {
  const named = JSON.stringify(columns.map(({ name, shown }) => [name, shown]));
  return createHash("sha256").update(named).digest("base64url").slice(0, 12);
}

/** Bytes are hashed first, because a row as text has them in twice the length. */
function hashOf({ columns }: Shape): string {
  const values = columns.map(({ name, base }) => {
    const column = quoteIdentifier(name);
    return base === "bytea" ? `sha256(${column})` : column;
  });
  return `encode(sha256(convert_to(ROW(${values.join(", ")})::text, 'UTF8')), 'base64')`;
}

const keyText = (key: readonly KeyColumn[]) =>
  `ARRAY[${key.map(({ expression }) => `${expression}::text`).join(", ")}]`;
const descending = (key: readonly KeyColumn[]) => key.map(({ expression }) => `${expression} DESC`).join(", ");

function rowsQuery(shape: DocumentShape, request: DocumentPage | DocumentKeys): PostgresQuery {
  const { relation, key, title, text, changedAt, content } = shape;
  const [keys, sign] = "keys" in request ? [request.keys, "=" as const] : [[request.before ?? []], "<" as const];
  const given = keys.filter((each) => each.length > 0);
  if (given.some((each) => each.length !== key.length)) throw invalid("not a key of a row in this table");
  const conditions = given.map((_, index) => compareKey(key, sign, index * key.length));
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" OR ")}`;
  const cells = [
    `${keyText(key)} AS key`,
    content,
    ...title.map((column, index) => `left(${textOf(column)}, ${maxTitleLength}) AS t${index}`),
    ...(changedAt ? [`${quoteIdentifier(changedAt.name)}::text AS changed`] : []),
    ...("keys" in request && request.withTexts
      ? text.flatMap((column, index) => [
          `left(${textOf(column)}, ${maxTextLength}) AS c${index}`,
          `length(${textOf(column)}) AS l${index}`,
        ])
      : []),
  ];
  return {
    text: `SELECT ${cells.join(", ")} FROM ${relation} ${where} ORDER BY ${descending(key)}${"keys" in request ? "" : ` LIMIT ${request.limit}`}`,
    values: given.flat(),
  };
}

function versionsQuery(
  { relation, key, writer }: DocumentShape,
  limit: number,
  before?: readonly string[],
): PostgresQuery {
  const where = before ? `WHERE ${compareKey(key, "<")}` : "";
  return {
    text: `SELECT ${keyText(key)} AS key, ${writer} FROM ${relation} ${where} ORDER BY ${descending(key)} LIMIT ${limit}`,
    values: before ?? [],
  };
}

/** A number that changes with every row, computed in the database. */
function digestQuery({ relation, key, writer }: DocumentShape, limit: number): PostgresQuery {
  return {
    text: `SELECT count(*) || ':' || coalesce(sum(hashtextextended(key::text || writer, 0)), 0) AS digest
      FROM (SELECT ${keyText(key)} AS key, ${writer} FROM ${relation} ORDER BY ${descending(key)} LIMIT ${limit}) AS rows`,
  };
}

/** An index on the column serves this order. Clocks do not matter: values are compared only with each other. */
function latestQuery({ relation, key, changedAt, writer }: DocumentShape): PostgresQuery {
  const column = quoteIdentifier(changedAt!.name);
  return {
    text: `SELECT ${keyText(key)} AS key, ${writer} FROM ${relation} WHERE ${column} IS NOT NULL ORDER BY ${column} DESC LIMIT ${mostLatest}`,
  };
}

function toRow(row: PostgresRow, { title, text, changedAt }: DocumentShape): DocumentRow {
  const changed = String(row["changed"] ?? "");
  const time = changedAt?.base === "timestamptz" ? /^(\d{4}-\d\d-\d\d) ([\d:.]+)\+00$/.exec(changed) : undefined;
  return {
    key: row["key"] as readonly string[],
    title: title.map((_, index) => (row[`t${index}`] ?? null) as string | null),
    version: String(row["content"]),
    ...(time && { changedAt: `${time[1]}T${time[2]}Z` }),
    ...("c0" in row && { texts: text.map(({ name }, index) => toText(name, row[`c${index}`], row[`l${index}`])) }),
  };
}

function toText(column: string, text: unknown, length: unknown): DocumentText {
  return { column, text: String(text ?? ""), length: Number(length ?? 0) };
}
