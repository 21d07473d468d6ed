/** Reads each kind of address. */
import { notFound } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { Address, Part } from "../../source.ts";
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { functionDdl, limitComments } from "../../backends/sql/ddl.ts";
import { type Limited, schemaType } from "../../backends/sql/description.ts";
import {
  overviewPart,
  type TableFormat,
  tableFormatOf,
  tableFormats,
  tablePart,
  tableTypeOf,
  textPart,
} from "../../backends/sql/formats.ts";
import { type Overview } from "../../backends/sql/overview.ts";
import { parseRowsRequest, type RowLimits, rowsPart } from "../../backends/sql/rows.ts";
import type { Catalog, CatalogItem } from "./catalog.ts";
import type { PostgresConnection, PostgresRow } from "./connection.ts";
import { functionsQuery, toFunction } from "./functions.ts";
import { isLeaf, parsePostgresPath, postgresPath, type PostgresAddress } from "./addresses.ts";
import { rowsQuery, type Shape, shapeQuery, toPage, toShape } from "./rows.ts";
import { type CatalogTable, visibleTable } from "./catalog-table.ts";
import { needsQuery, type Need, objectsQuery, schemaDdl, toObjects } from "./schema-ddl.ts";
import { createTable, tableStatements, toText } from "./table-ddl.ts";
import { toDescription } from "./table-description.ts";
import { partitionsQuery, tablesQuery } from "./tables.ts";
import { toTypes, typesQuery } from "./types.ts";

interface PostgresReader {
  /** Undefined if the address may be a directory. */
  read(at: Address, call: Call): Promise<readonly Part[] | undefined>;
  shapeOf(schema: string, table: string, signal: AbortSignal): Promise<Shape | undefined>;
}

interface PostgresReaderOptions {
  readonly connection: Pick<PostgresConnection, "query" | "queryTables">;
  readonly catalog: Catalog;
  readonly allow: AllowList;
  readonly database: string;
  readonly functions: "none" | "signatures" | "definitions";
  readonly limits: RowLimits;
}

/** Most tables in the overview of a schema. */
const maxTables = 500;
/** Most of each kind that are described: for a whole schema, or the partitions of one table. */
const most = { types: 1000, partitions: 1000, objects: 5000 };

/** The first rows of a query for one more than `most`, and the limit if there are more. */
function firstOf(kind: keyof typeof most, rows: readonly PostgresRow[]) {
  const limited: Limited = rows.length > most[kind] ? { [kind]: most[kind] } : {};
  return { rows: rows.slice(0, most[kind]), limited };
}

/** A table with its partitions, without what may not be shown. */
interface TableWithPartitions {
  readonly raw: CatalogTable;
  readonly partitions: readonly CatalogTable[];
  /** Of all tables that were requested together. */
  readonly limited: Limited;
}

export function createPostgresReader({
  connection,
  catalog,
  allow,
  database,
  functions,
  limits,
}: PostgresReaderOptions): PostgresReader {
  /** One table, or all of a schema. */
  async function tablesOf(
    schema: string,
    table: string | undefined,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly TableWithPartitions[]> {
    const visible = (rows: readonly PostgresRow[]) => rows.flatMap((row) => visibleTable(row, allow) ?? []);
    const tables = visible(await connection.query(tablesQuery(schema, table, allow, limit), signal));
    const roots = tables.flatMap(({ id, partition }) => (partition === null ? [] : [id]));
    const { rows, limited } = firstOf(
      "partitions",
      roots.length === 0 ? [] : await connection.query(partitionsQuery(roots, allow, most.partitions + 1), signal),
    );
    const byRoot = Map.groupBy(visible(rows), ({ root }) => root);
    return tables.map((raw) => ({ raw, partitions: byRoot.get(raw.id) ?? [], limited }));
  }

  function describe({ raw, partitions }: TableWithPartitions) {
    return toDescription(raw, partitions, database, createTable(raw, { hasInlineKeys: true }));
  }

  async function readDefinition(schema: string, table: string, format: TableFormat, path: string, signal: AbortSignal) {
    const [found] = allow.table({ schema, table }) ? await tablesOf(schema, table, 1, signal) : [];
    if (found === undefined) throw notFound(path);
    const { raw, partitions, limited } = found;
    const ddl = `${limitComments(limited)}${toText(tableStatements(raw, partitions, { hasInlineKeys: true }))}`;
    return tablePart({ ...describe(found), ...unlessEmpty(limited) }, format, ddl);
  }

  async function readOverview(schema: string, format: TableFormat, path: string, signal: AbortSignal): Promise<Part> {
    const found = await catalog.find({ kind: "overview", schema }, signal);
    if (found === undefined) throw notFound(path);
    const [tables, { types, limited: limitedTypes }, named] = await Promise.all([
      tablesOf(schema, undefined, maxTables * 2 + 1, signal),
      typesOf(schema, signal),
      functions !== "none"
        ? catalog.things({ scope: { kind: "functions", schema }, limit: maxTables }, signal)
        : { things: [] as readonly CatalogItem[] },
    ]);
    const limited = { ...limitedTypes, ...tables[0]?.limited };
    const overview: Overview = {
      database,
      schema,
      comment: found.comment,
      tables: tables.slice(0, maxTables).map(describe),
      types: types.map(({ description }) => description),
      functions: named.things.flatMap(({ place }) => (place.kind === "function" ? [place.name] : [])),
      leftOut: Math.max(0, tables.length - maxTables),
      ...unlessEmpty(limited),
    };
    const ddl = format === "ddl" ? await ddlOf(schema, tables.slice(0, maxTables), types, limited, signal) : "";
    return overviewPart(overview, format, () => ddl);
  }

  /** The whole schema as one text. */
  async function ddlOf(
    schema: string,
    tables: readonly TableWithPartitions[],
    types: ReturnType<typeof toTypes>,
    limited: Limited,
    signal: AbortSignal,
  ): Promise<string> {
    const [found, needs] = await Promise.all([
      connection.query(objectsQuery(schema, allow, functions === "definitions", most.objects + 1), signal),
      connection.query(needsQuery(schema), signal),
    ]);
    const first = firstOf("objects", found);
    const objects = [
      ...toObjects(first.rows, allow),
      ...types.map(({ object }) => object),
      ...tables.map(({ raw, partitions }) => ({
        id: `pg_class:${raw.id}`,
        statements: tableStatements(raw, partitions, { hasInlineKeys: false }),
      })),
    ];
    // Functions may name tables that are created after them.
    const beginning = objects.some(({ id }) => id.startsWith("pg_proc:")) ? "SET check_function_bodies = false;\n" : "";
    return `${limitComments({ ...limited, ...first.limited })}${beginning}${schemaDdl(objects, needs as unknown as readonly Need[])}`;
  }

  async function typesOf(schema: string, signal: AbortSignal) {
    const found = await connection.query(typesQuery(schema, allow, most.types + 1), signal);
    const { rows, limited } = firstOf("types", found);
    return { types: toTypes(rows, allow), limited };
  }

  async function readFunction(schema: string, name: string, format: TableFormat, path: string, signal: AbortSignal) {
    const [found, rows] = await Promise.all([
      catalog.find({ kind: "function", schema, name }, signal),
      connection.query(functionsQuery(schema, name, functions === "definitions"), signal),
    ]);
    if (found === undefined || rows.length === 0) throw notFound(path);
    const described = rows.map(toFunction);
    if (format === "ddl") return textPart(functionDdl(described), "application/sql");
    return textPart(JSON.stringify({ database, schema, name, functions: described }), "application/json");
  }

  async function readTypes(schema: string, format: TableFormat, path: string, signal: AbortSignal) {
    const [found, { types, limited }] = await Promise.all([
      catalog.find({ kind: "types", schema }, signal),
      typesOf(schema, signal),
    ]);
    if (found === undefined) throw notFound(path);
    if (format === "ddl") {
      const needs = await connection.query(needsQuery(schema), signal);
      const ddl = schemaDdl(
        types.map(({ object }) => object),
        needs as unknown as readonly Need[],
      );
      return textPart(`${limitComments(limited)}${ddl}`, "application/sql");
    }
    const described = types.map(({ description }) => description);
    return textPart(
      JSON.stringify({ database, schema, types: described, ...unlessEmpty(limited) }),
      "application/json",
    );
  }

  async function shapeOf(schema: string, table: string, signal: AbortSignal): Promise<Shape | undefined> {
    const [row] = await connection.query(shapeQuery(schema, table, allow), signal);
    return row && toShape(row, schema, table, allow);
  }

  async function readRows(schema: string, table: string, { path, query = {} }: Address, signal: AbortSignal) {
    const request = parseRowsRequest(query, limits);
    if (request === undefined || !allow.rows({ schema, table })) throw notFound(path);
    const shape = await shapeOf(schema, table, signal);
    if (shape === undefined) throw notFound(path);
    const result = await connection.queryTables(rowsQuery(shape, request, limits), signal);
    if ("key" in request && result.length === 0) throw notFound(path);
    return rowsPart({ database, schema, table }, toPage(result, shape, request.limit), request.limit);
  }

  async function read(at: Address, { signal }: Call): Promise<readonly Part[] | undefined> {
    const { path } = at;
    const place = parsePostgresPath(path);
    if (place === undefined) throw notFound(path);
    switch (place.kind) {
      case "definition": {
        const part = await readDefinition(place.schema, place.name, formatAt(at, place).format, path, signal);
        return [{ ...part, ...revealing(place) }];
      }
      case "rows":
        return [{ ...(await readRows(place.schema, place.name, at, signal)), ...revealing(place) }];
      case "overview":
        return [await readOverview(place.schema, formatAt(at, place).format, path, signal)];
      case "types":
        return [await readTypes(place.schema, formatAt(at, place).format, path, signal)];
      case "function":
        return [await readFunction(place.schema, place.name, formatAt(at, place).format, path, signal)];
      default:
        return undefined;
    }
  }

  return { read, shapeOf };
}

function unlessEmpty(limited: Limited): { readonly limited?: Limited } {
  return Object.keys(limited).length === 0 ? {} : { limited };
}

/** The format requested at an address, and its type. */
export function formatAt(
  at: Address,
  { kind }: PostgresAddress,
): { readonly format: TableFormat; readonly mimeType: string } {
  const isPlain = kind === "types" || kind === "function";
  const known: readonly TableFormat[] = isPlain ? ["json", "ddl"] : tableFormats;
  const format = tableFormatOf(at, kind === "overview" ? "markdown" : "json", known);
  return { format, mimeType: tableTypeOf(format, isPlain ? "application/json" : schemaType) };
}

/** The short form of an address shows no more than the full form. */
export function revealing(place: PostgresAddress): { readonly reveals?: Address } {
  return isLeaf(place) && place.isShort
    ? { reveals: { path: postgresPath({ kind: place.kind, schema: place.schema, name: place.name }) } }
    : {};
}
