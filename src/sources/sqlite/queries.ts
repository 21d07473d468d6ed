/** Queries to a database file, run in the process that has it open. Callers supply only names and keys, which are bound as values. */
import { createHash } from "node:crypto";
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { RowsPage } from "../../backends/sql/rows.ts";
import type { AllowList } from "../../backends/sql/allow-list.ts";
import type {
  TableColumn,
  ForeignKey,
  Reference,
  TableKind,
  TableDescription,
} from "../../backends/sql/description.ts";
import { documentRows, type DocumentsQuery, type DocumentsResult } from "./document-rows.ts";
import { jsonSafe, keyText, type KeyValue } from "./values.ts";
import { quoteIdentifier } from "../../backends/sql/segments.ts";
import { createShown, type SchemaItem, type Shown } from "./view-reads.ts";

export interface NamedTable {
  readonly name: string;
  readonly kind: TableKind;
  /** Digest of its description. */
  readonly digest: string;
}

export type SqliteQuery =
  | { readonly kind: "tables" }
  | { readonly kind: "describe"; readonly tables: readonly string[]; readonly withViews: boolean }
  | {
      readonly kind: "rows";
      readonly table: string;
      readonly limit: number;
      readonly maxBytes: number;
      readonly maxValueLength: number;
      readonly after?: readonly KeyValue[];
      readonly key?: readonly KeyValue[];
    }
  | DocumentsQuery
  /** Counts rows up to a number. */
  | { readonly kind: "count"; readonly table: string; readonly upTo: number }
  | { readonly kind: "pulse" }
  /** Views excluded because of what they read. */
  | { readonly kind: "leftOut" };

/** The description of a table in the file, with its original names. */
export interface RawTable extends NamedTable, Omit<TableDescription, "database" | "table" | keyof NamedTable> {
  readonly sql: string;
}

interface Pulse {
  /** Changes after each write by another process. */
  readonly version: string;
  readonly tables: readonly NamedTable[];
}

export interface QueryResults {
  readonly tables: readonly NamedTable[];
  readonly describe: readonly RawTable[];
  /** Undefined if there is no such table. */
  readonly rows: RowsPage | undefined;
  /** Undefined if there is no such table. */
  readonly documents: DocumentsResult | undefined;
  readonly count: number;
  readonly pulse: Pulse;
  readonly leftOut: readonly string[];
}

const maxTables = 50_000;
const maxColumns = 900;

/** Returns nothing but what is served. */
export function runSqliteQuery(
  database: DatabaseSync,
  query: SqliteQuery,
  allow: AllowList,
): QueryResults[SqliteQuery["kind"]] {
  const { tables, shown } = tablesOf(database, allow);
  const isShown = ({ name }: NamedTable) => shown.isShown(name);
  switch (query.kind) {
    case "tables":
      return tables.filter(isShown);
    case "describe":
      return describe(database, tables, query.tables.filter(shown.isShown), query.withViews);
    case "rows":
      return shown.isShown(query.table) ? rowsOf(database, tables, query) : undefined;
    case "documents": {
      const table = shown.isShown(query.table) ? tables.find(({ name }) => name === query.table) : undefined;
      if (table === undefined) return undefined;
      const { columns } = columnsOf(database, table.name);
      const keys = keyOf(database, table, columns)?.map(({ expression }) => expression);
      const names = columns.slice(0, maxColumns).map(({ name }) => name);
      return documentRows(database, query, names, keys);
    }
    case "count":
      return shown.isShown(query.table) ? countRows(database, query.table, query.upTo) : 0;
    case "pulse":
      return { version: String(pragma(database, "data_version")), tables: tables.filter(isShown) };
    case "leftOut":
      return shown.leftOut();
  }
}

type SqlRow = Readonly<Record<string, SQLOutputValue>>;

function all(database: DatabaseSync, sql: string, ...values: SQLInputValue[]): readonly SqlRow[] {
  return database.prepare(sql).all(...values);
}

function pragma(database: DatabaseSync, name: "data_version"): SQLOutputValue {
  return database.prepare(`PRAGMA ${name}`).get()?.[name] ?? null;
}

/** Reads the schema table and runs no view: a slow view must delay only its own readers. */
function tablesOf(
  database: DatabaseSync,
  allow: AllowList,
): { readonly tables: readonly NamedTable[]; readonly shown: Shown } {
  const rows = all(
    database,
    `SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
     ORDER BY rowid LIMIT ${maxTables}`,
  );
  const digests = new Map<string, ReturnType<typeof createHash>>();
  for (const { tbl_name: table, type, name, sql } of rows) {
    const key = String(table).toLowerCase();
    let digest = digests.get(key);
    if (digest === undefined) digests.set(key, (digest = createHash("sha1")));
    digest.update(JSON.stringify([type, name, sql]));
  }
  const virtual = rows.flatMap(({ type, name, sql }) => {
    const module =
      type === "table" ? /^CREATE VIRTUAL TABLE[\s\S]*?\bUSING\s+"?(\w+)/i.exec(String(sql))?.[1] : undefined;
    return module === undefined ? [] : [{ name: String(name), module: module.toLowerCase() }];
  });
  const isVirtual = new Set(virtual.map(({ name }) => name));
  /** By name, the virtual table that owns it. */
  const shadows = new Map(
    virtual.flatMap(({ name, module }) =>
      (shadowEndings[module] ?? []).map((ending) => [`${name}_${ending}`.toLowerCase(), name] as const),
    ),
  );
  const items = rows.flatMap(({ type, name, sql }): SchemaItem[] => {
    if (type !== "table" && type !== "view") return [];
    const called = String(name);
    const isDerived = type === "view" || isVirtual.has(called);
    return [{ name: called, sql: String(sql), isDerived, shadowOf: shadows.get(called.toLowerCase()) }];
  });
  const tables = rows.flatMap(({ type, name }): NamedTable[] => {
    const called = String(name);
    if ((type !== "table" && type !== "view") || shadows.has(called.toLowerCase())) return [];
    const kind = type === "view" ? "view" : isVirtual.has(called) ? "virtual table" : "table";
    return [{ name: called, kind, digest: digests.get(called.toLowerCase())?.copy().digest("base64") ?? "" }];
  });
  return { tables, shown: createShown(items, allow) };
}

/** Tables in which a virtual table stores its own data. */
const fts34 = ["content", "segments", "segdir", "docsize", "stat"];
const shadowEndings: Readonly<Record<string, readonly string[]>> = {
  fts5: ["data", "idx", "content", "docsize", "config"],
  fts4: fts34,
  fts3: fts34,
  rtree: ["node", "rowid", "parent"],
  rtree_i32: ["node", "rowid", "parent"],
  geopoly: ["node", "rowid", "parent"],
};

function describe(
  database: DatabaseSync,
  tables: readonly NamedTable[],
  wanted: readonly string[],
  withViews: boolean,
): readonly RawTable[] {
  const names = new Map(tables.map((table) => [table.name.toLowerCase(), table.name]));
  /** A foreign key may write the table name in another case than the table itself. */
  const real = (name: string) => names.get(name.toLowerCase()) ?? name;
  const estimates = estimatesOf(database);
  return tables
    .filter(({ name }) => wanted.includes(name))
    .map((table) => {
      const { name, kind } = table;
      const sql = String(
        all(database, "SELECT sql FROM sqlite_schema WHERE name = ? AND type IN ('table', 'view')", name)[0]?.["sql"] ??
          "",
      );
      if (kind === "view" && !withViews)
        return {
          ...table,
          sql,
          columns: [],
          constraints: [],
          foreignKeys: [],
          referencedBy: [],
          indexes: [],
          ...triggersOf(database, name),
        };
      const rowEstimate = estimates.get(name.toLowerCase());
      return {
        ...table,
        sql,
        ...columnsOf(database, name),
        ...indexesOf(database, name),
        ...triggersOf(database, name),
        foreignKeys: foreignKeysOf(database, name).map((key) => ({
          ...key,
          references: { ...key.references, table: real(key.references.table) },
        })),
        referencedBy: kind === "view" ? [] : referencesTo(database, name),
        ...suffixOf(database, name, sql),
        rowEstimate,
      };
    });
}

/** Row counts by ANALYZE, if it ever ran. */
function estimatesOf(database: DatabaseSync): ReadonlyMap<string, number> {
  try {
    const rows = all(
      database,
      "SELECT lower(tbl) AS name, max(CAST(stat AS INTEGER)) AS rows FROM sqlite_stat1 GROUP BY 1",
    );
    return new Map(rows.map(({ name, rows: count }) => [String(name), Number(count)]));
  } catch {
    return new Map();
  }
}

function columnsOf(database: DatabaseSync, table: string): Pick<RawTable, "columns" | "primaryKey"> {
  const rows = all(
    database,
    `SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)`,
    table,
  ).filter(({ hidden }) => hidden !== 1);
  const key = rows
    .filter(({ pk }) => Number(pk) > 0)
    .sort((a, b) => Number(a["pk"]) - Number(b["pk"]))
    .map(({ name }) => String(name));
  return {
    columns: rows.map(({ name, type, notnull, dflt_value: initial, hidden }) => ({
      name: String(name),
      type: String(type ?? ""),
      nullable: notnull === 0,
      ...(initial !== null && initial !== undefined && { default: String(initial) }),
      // The expression is only in the definition.
      ...((hidden === 2 || hidden === 3) && { generated: "…", stored: hidden === 3 }),
    })),
    ...(key.length > 0 && { primaryKey: key }),
  };
}

function indexesOf(database: DatabaseSync, table: string): Pick<RawTable, "indexes" | "constraints"> {
  const rows = all(database, `SELECT name, "unique", origin FROM pragma_index_list(?) ORDER BY name`, table);
  const described = rows.map(({ name, unique, origin }) => {
    const columns = all(
      database,
      "SELECT name, cid FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno",
      String(name),
    ).map((column) =>
      column["name"] === null ? (Number(column["cid"]) === -1 ? "rowid" : "…") : String(column["name"]),
    );
    const sql = all(database, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", String(name))[0]?.[
      "sql"
    ];
    return { name: String(name), unique: unique === 1, origin: String(origin), columns, sql };
  });
  return {
    indexes: described
      .filter(({ origin }) => origin === "c")
      .map(({ name, unique, columns, sql }) => ({
        name,
        unique,
        columns,
        ...(typeof sql === "string" && { definition: sql }),
      })),
    constraints: described
      .filter(({ origin }) => origin === "u")
      .map(({ name, columns }) => ({
        name,
        kind: "unique",
        columns,
        definition: `UNIQUE (${columns.map(quoteIdentifier).join(", ")})`,
      })),
  };
}

function triggersOf(database: DatabaseSync, table: string): Pick<RawTable, "triggers"> {
  const rows = all(
    database,
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = lower(?) AND sql IS NOT NULL ORDER BY name",
    table,
  );
  if (rows.length === 0) return {};
  return { triggers: rows.map(({ name, sql }) => ({ name: String(name), definition: String(sql) })) };
}

function foreignKeysOf(database: DatabaseSync, table: string): ForeignKey[] {
  const rows = all(
    database,
    `SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq`,
    table,
  );
  const keys = new Map<unknown, SqlRow[]>();
  for (const row of rows) keys.set(row["id"], [...(keys.get(row["id"]) ?? []), row]);
  return [...keys.values()].map((parts) => {
    const first = parts[0]!;
    const to = parts.flatMap((part) => (part["to"] === null ? [] : [String(part["to"])]));
    const action = (name: string) => (String(first[name]) === "NO ACTION" ? undefined : String(first[name]));
    const [onUpdate, onDelete] = [action("on_update"), action("on_delete")];
    return {
      columns: parts.map((part) => String(part["from"])),
      references: { table: String(first["table"]), columns: to },
      onUpdate,
      onDelete,
    };
  });
}

function referencesTo(database: DatabaseSync, table: string): Reference[] {
  const rows = all(
    database,
    `SELECT m.name, f.id, f."from", f."to" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
     WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND lower(f."table") = lower(?) ORDER BY m.name, f.id, f.seq`,
    table,
  );
  const found = new Map<string, { table: string; columns: string[]; to: string[] }>();
  for (const { name, id, from, to } of rows) {
    const key = `${String(id)}:${String(name)}`;
    const known = found.get(key) ?? { table: String(name), columns: [], to: [] };
    known.columns.push(String(from));
    if (to !== null) known.to.push(String(to));
    found.set(key, known);
  }
  return [...found.values()];
}

function suffixOf(database: DatabaseSync, table: string, sql: string): Pick<RawTable, "suffix"> {
  const words = [
    ...(isWithoutRowid(database, table) ? ["WITHOUT ROWID"] : []),
    ...(/\bSTRICT\b/i.test(sql.slice(sql.lastIndexOf(")") + 1)) ? ["STRICT"] : []),
  ];
  return words.length === 0 ? {} : { suffix: words.join(", ") };
}

/** Its rows are stored in an index of its own name. */
function isWithoutRowid(database: DatabaseSync, table: string): boolean {
  return all(database, "SELECT 1 FROM pragma_index_xinfo(?) LIMIT 1", table).length > 0;
}

interface KeyColumn {
  readonly name: string;
  /** As in a statement. */
  readonly expression: string;
}

function rowsOf(
  database: DatabaseSync,
  tables: readonly NamedTable[],
  request: Extract<SqliteQuery, { kind: "rows" }>,
): RowsPage | undefined {
  const table = tables.find(({ name }) => name === request.table);
  if (table === undefined) return undefined;
  const columns = columnsOf(database, table.name).columns.slice(0, maxColumns);
  const key = keyOf(database, table, columns);
  const given = request.key ?? request.after;
  if (given !== undefined && given.length !== key?.length) throw new InvalidKeyError();
  const keys = key?.map(({ expression }) => expression) ?? [];
  const sign = request.key ? "=" : ">";
  const where = given ? `WHERE (${keys.join(", ")}) ${sign} (${given.map(() => "?").join(", ")})` : "";
  const order = keys.length === 0 ? "" : `ORDER BY ${keys.join(", ")}`;
  const cells = columns.map(({ name }, index) => {
    const column = quoteIdentifier(name);
    const isLong = `typeof(${column}) IN ('text', 'blob')`;
    return `CASE WHEN ${isLong} THEN substr(${column}, 1, ${request.maxValueLength}) ELSE ${column} END AS c${index},
      CASE WHEN ${isLong} THEN length(${column}) ELSE 0 END AS l${index}`;
  });
  const statement = database.prepare(
    `SELECT ${[...keys.map((each, index) => `${each} AS k${index}`), ...cells].join(", ")}
     FROM ${quoteIdentifier(table.name)} ${where} ${order} LIMIT ${request.limit + 1}`,
  );
  statement.setReadBigInts(true);
  const rows: unknown[][] = [];
  const cut: [number, string, number][] = [];
  let last: readonly string[] | undefined;
  let bytes = 0;
  let isMore = false;
  for (const row of statement.iterate(...(given ?? []).map(({ value }) => value)) as Iterable<SqlRow>) {
    const values = columns.map((_, index) => jsonSafe(row[`c${index}`] ?? null));
    bytes += JSON.stringify(values).length;
    if (rows.length >= request.limit || (rows.length > 0 && bytes > request.maxBytes)) {
      isMore = true;
      break;
    }
    for (const [index, { name }] of columns.entries()) {
      const length = Number(row[`l${index}`] ?? 0);
      if (length > request.maxValueLength) cut.push([rows.length, name, length]);
    }
    rows.push(values);
    last = keys.map((_, index) => keyText(row[`k${index}`] ?? null));
  }
  return {
    columns: columns.map(({ name, type }) => ({ name, type })),
    ...(key && { key: key.map(({ name }) => name) }),
    rows,
    cut,
    ...(isMore && (key && last ? { next: last } : { more: true })),
  };
}

function countRows(database: DatabaseSync, table: string, upTo: number): number {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM ${quoteIdentifier(table)} LIMIT ?)`;
  return Number(all(database, sql, upTo)[0]?.["count"] ?? 0);
}

/** The rowid, or the primary key if the table has none. */
function keyOf(
  database: DatabaseSync,
  { name, kind }: NamedTable,
  columns: readonly TableColumn[],
): KeyColumn[] | undefined {
  if (kind === "view") return undefined;
  const { primaryKey } = columnsOf(database, name);
  if (kind === "table" && isWithoutRowid(database, name))
    return primaryKey?.map((column) => ({ name: column, expression: quoteIdentifier(column) }));
  const taken = new Set(columns.map((column) => column.name.toLowerCase()));
  const free = ["rowid", "_rowid_", "oid"].find((each) => !taken.has(each));
  if (free === undefined) return undefined;
  try {
    database.prepare(`SELECT ${free} FROM ${quoteIdentifier(name)} LIMIT 0`);
  } catch {
    return undefined;
  }
  return [{ name: "rowid", expression: free }];
}

/** The key has another number of values than the table's key. */
export class InvalidKeyError extends Error {}
