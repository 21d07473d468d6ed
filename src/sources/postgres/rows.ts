/** Rows of a table, addressed by its key. Identifiers come from the catalogue and are quoted; values are parameters. */
import { denied, invalid } from "../../errors.ts";
import type { AllowList } from "../../backends/sql/allow-list.ts";
import {
  jsonOrText,
  maxValueLength,
  numberOrText,
  type RowLimits,
  type RowsRequest,
  type RowsPage,
} from "../../backends/sql/rows.ts";
import { quoteIdentifier } from "../../backends/sql/segments.ts";
import { readableTable } from "./catalog.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";
import { hiddenText, mayName, type Mention } from "./mentions.ts";
import { isLeftOut, mayServe, readsColumn, readsOf } from "./view-reads.ts";

/** What must be known of a table before its rows can be read. */
export interface Shape {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly ShapeColumn[];
  readonly key: readonly KeyColumn[] | undefined;
  /** Excludes the rows of inheriting tables, because one of those is excluded. */
  readonly isAlone: boolean;
  /** Whether the role may read the whole table, with its system columns. */
  readonly isWhole: boolean;
}

export interface ShapeColumn {
  readonly name: string;
  readonly type: string;
  /** The category of the type. */
  readonly category: string;
  readonly base: string;
  /** The type name that may be shown. */
  readonly shown: string;
}

export interface KeyColumn {
  /** As in a statement. */
  readonly expression: string;
  /** The type to which its text is cast. */
  readonly type: string;
  readonly name: string;
  /** The schema of the operators that order its index. */
  readonly operators: string;
}

const maxColumns = 1600;

/** Only columns that the role may read. The key is the primary key, or another unique key without nulls. */
export function shapeQuery(schema: string, table: string, allow: AllowList): PostgresQuery {
  return {
    text: `
      SELECT c.relkind::text AS letter, ${readsColumn("c.oid", allow)} AS reads, has_table_privilege(c.oid, 'SELECT') AS whole,
        (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
            'category', coalesce(b.typcategory, y.typcategory), 'base', coalesce(b.typname, y.typname), 'number', a.attnum,
            'made', json_build_array(tn.nspname, CASE WHEN w.relkind <> 'c' THEN w.relname END))
            ORDER BY a.attnum)
         FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_type b ON y.typtype = 'd' AND b.oid = y.typbasetype
         JOIN pg_namespace tn ON tn.oid = y.typnamespace LEFT JOIN pg_type el ON el.oid = y.typelem AND y.typelem <> 0
         LEFT JOIN pg_class w ON w.oid = coalesce(nullif(y.typrelid, 0), el.typrelid)
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT')) AS columns,
        (SELECT (SELECT json_agg(json_build_array(k.number, (
                   SELECT nn.nspname FROM pg_opclass oc JOIN pg_amop am ON am.amopfamily = oc.opcfamily
                     AND am.amoplefttype = oc.opcintype AND am.amoprighttype = oc.opcintype AND am.amopstrategy = 5
                   JOIN pg_operator o ON o.oid = am.amopopr JOIN pg_namespace nn ON nn.oid = o.oprnamespace
                   WHERE oc.oid = (x.indclass::oid[])[k.at - 1])) ORDER BY k.at)
                 FROM unnest(x.indkey::int2[]) WITH ORDINALITY k (number, at) WHERE k.at <= x.indnkeyatts)
         FROM pg_index x
         WHERE x.indrelid = c.oid AND x.indimmediate AND x.indisunique AND x.indisvalid AND x.indpred IS NULL AND x.indexprs IS NULL
           AND NOT EXISTS (SELECT FROM unnest(x.indkey::int2[]) k JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k
             WHERE NOT a.attnotnull)
         ORDER BY x.indisprimary DESC, x.indexrelid LIMIT 1) AS key
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1::text AND c.relname = $2::text AND has_schema_privilege(n.oid, 'USAGE') AND ${readableTable}`,
    values: [schema, table],
  };
}

export function toShape(row: PostgresRow, schema: string, table: string, allow: AllowList): Shape | undefined {
  const { letter, columns, key } = row as {
    readonly letter: string;
    readonly columns:
      | readonly (Omit<ShapeColumn, "shown"> & { readonly number: number; readonly made: Mention })[]
      | null;
    readonly key: readonly (readonly [number: number, operators: string | null])[] | null;
  };
  const read = readsOf(row);
  if (!mayServe({ schema, table }, letter, read, allow)) return undefined;
  const readable = columns ?? [];
  const named = key?.flatMap(([number, operators]): KeyColumn[] => {
    const column = readable.find((each) => each.number === number);
    if (column === undefined || operators === null) return [];
    const { name, type } = column;
    return [{ name, type, operators, expression: quoteIdentifier(name) }];
  });
  return {
    schema,
    table,
    columns: readable
      .slice(0, maxColumns)
      .map((column) => ({ ...column, shown: mayName(column.made, allow) ? column.type : hiddenText })),
    key: named && named.length === key?.length ? named : placeKey(letter),
    isAlone: (letter === "r" || letter === "f") && read.some((each) => isLeftOut(each, allow)),
    isWhole: row["whole"] === true,
  };
}

/** As in FROM. */
export function relationOf({ schema, table, isAlone }: Shape): string {
  return `${isAlone ? "ONLY " : ""}${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
}

/** The physical row position, which changes when the row is written: a fallback for paging. */
function placeKey(letter: string): readonly KeyColumn[] | undefined {
  const place: KeyColumn = { name: "ctid", type: "tid", expression: "ctid", operators: "pg_catalog" };
  if (letter === "r" || letter === "m") return [place];
  // Positions are unique only within each partition.
  if (letter === "p") return [{ ...place, name: "tableoid", type: "oid", expression: "tableoid" }, place];
  return undefined;
}

/** The server cuts long values, and pages with too many bytes. */
export function rowsQuery(shape: Shape, request: RowsRequest, { maxBytes }: RowLimits): PostgresQuery {
  const { columns, key } = shape;
  if (columns.length === 0) throw denied("the role of this mount may not read any column of that table");
  const given = "key" in request ? request.key : request.after;
  if (given !== undefined && given.length !== key?.length)
    throw invalid("not a key of a row in this table; copy it unchanged from the previous page");
  const keys = key?.map(({ expression }) => expression) ?? [];
  const where = given === undefined ? "" : `WHERE ${compareKey(key ?? [], "key" in request ? "=" : ">")}`;
  const order = keys.length === 0 ? "" : `ORDER BY ${keys.join(", ")}`;
  const cells = columns.map((column, index) => `${cell(column)} AS c${index}`);
  const lengths = columns.map((column, index) => `${lengthOf(column)} AS l${index}`);
  const size = columns.map((_, index) => `coalesce(octet_length(c${index}), 0)`).join(" + ");
  const numbered = `row_number() OVER (${order}) AS at`;
  return {
    text: `
      WITH page AS (
        SELECT ${numbered}, ${keys.length === 0 ? "NULL::text[]" : `ARRAY[${keys.map((each) => `${each}::text`).join(", ")}]`} AS key,
          ${[...cells, ...lengths].join(", ")}
        FROM (SELECT ${[...columns.map(({ name }) => quoteIdentifier(name)), ...keys.filter(isSystemColumn)].join(", ")}
          FROM ${relationOf(shape)} ${where} ${order} LIMIT ${request.limit + 1}) source
      ), measured AS (SELECT page.*, sum(${size}) OVER (ORDER BY at) AS bytes FROM page)
      SELECT measured.*, (SELECT count(*)::int FROM page) AS total FROM measured WHERE bytes <= ${maxBytes} OR at = 1 ORDER BY at`,
    values: given ?? [],
  };
}

/** The parameters after the first `offset` are the key values. */
export function compareKey(key: readonly KeyColumn[], sign: ">" | "<" | "=", offset = 0): string {
  const values = key.map(({ type }, index) => `$${offset + index + 1}::text::${type}`);
  // As a row comparison if possible, because an index can serve it.
  if (key.every(({ operators }) => operators === "pg_catalog"))
    return `(${key.map(({ expression }) => expression).join(", ")}) ${sign} (${values.join(", ")})`;
  const one = (index: number, own: string) => {
    const { expression, operators } = key[index]!;
    return `${expression} OPERATOR(${quoteIdentifier(operators)}.${own}) ${values[index]}`;
  };
  const all = key.map((_, index) => {
    const before = Array.from({ length: index }, (__, at) => one(at, "="));
    return `(${[...before, one(index, sign)].join(" AND ")})`;
  });
  return sign === "=" ? (all.at(-1) ?? "false") : `(${all.join(" OR ")})`;
}

function isSystemColumn(expression: string): boolean {
  return !expression.startsWith('"');
}

function cell(column: ShapeColumn): string {
  const name = quoteIdentifier(column.name);
  if (column.base === "bytea") return `replace(encode(substr(${name}, 1, ${maxValueLength}), 'base64'), E'\\n', '')`;
  return `left(${textOf(column)}, ${maxValueLength})`;
}

function lengthOf(column: ShapeColumn): string {
  const name = quoteIdentifier(column.name);
  // Short types need not be measured.
  if (/^[NDBT]$/.test(column.category)) return "0";
  return column.base === "bytea" ? `length(${name})` : `length(${textOf(column)})`;
}

/** Arrays and records as JSON; everything else as the database writes it. */
export function textOf({ name, category }: ShapeColumn): string {
  return category === "A" || category === "C"
    ? `to_json(${quoteIdentifier(name)})::text`
    : `${quoteIdentifier(name)}::text`;
}

export function toPage(result: readonly PostgresRow[], { columns, key }: Shape, limit: number): RowsPage {
  const given = result.slice(0, limit);
  const cut: [number, string, number][] = [];
  const rows = given.map((row, index) =>
    columns.map((column, at) => {
      const length = Number(row[`l${at}`] ?? 0);
      if (length > maxValueLength) cut.push([index, column.name, length]);
      return toValue(row[`c${at}`] as string | null, column, length > maxValueLength);
    }),
  );
  const last = given.at(-1)?.["key"] as readonly string[] | null | undefined;
  return {
    columns: columns.map(({ name, shown }) => ({ name, type: shown })),
    ...(key && { key: key.map(({ name }) => name) }),
    rows,
    cut,
    // The rows not shown are the one behind the page, or exceed the bytes.
    ...(Number(result[0]?.["total"] ?? 0) > given.length && (last ? { next: last } : { more: true })),
  };
}

function toValue(text: string | null, { category, base }: ShapeColumn, isCut: boolean): unknown {
  if (text === null) return null;
  if (base === "bytea") return { base64: text };
  if (isCut) return text;
  if (category === "B") return text === "true" || text === "t";
  if (/^(?:int[248]|float[48]|oid)$/.test(base)) return numberOrText(text);
  if (category === "A" || category === "C" || base === "json" || base === "jsonb") return jsonOrText(text);
  return text;
}
