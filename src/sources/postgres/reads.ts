/** Reads each kind of address. */
import { notFound } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { Address, Part } from "../../source.ts";
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { functionDdl } from "../../backends/sql/ddl.ts";
import { schemaType, type TableDescription } from "../../backends/sql/description.ts";
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
import type { PostgresConnection } from "./connection.ts";
import { enumsQuery, functionsQuery, toEnum, toFunction } from "./functions.ts";
import { isLeaf, parsePostgresPath, postgresPath, type PostgresAddress } from "./addresses.ts";
import { rowsQuery, type Shape, shapeQuery, toPage, toShape } from "./rows.ts";
import { tablesQuery, toDescription } from "./tables.ts";

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

export function createPostgresReader({
  connection,
  catalog,
  allow,
  database,
  functions,
  limits,
}: PostgresReaderOptions): PostgresReader {
  async function describe(schema: string, table: string, signal: AbortSignal): Promise<TableDescription | undefined> {
    if (!allow.table({ schema, table })) return undefined;
    const [row] = await connection.query(tablesQuery(schema, table, allow, 1), signal);
    return row && toDescription(row, database, schema, allow);
  }

  async function readDefinition(schema: string, table: string, format: TableFormat, path: string, signal: AbortSignal) {
    const description = await describe(schema, table, signal);
    if (description === undefined) throw notFound(path);
    return tablePart(description, format);
  }

  async function overviewOf(schema: string, path: string, signal: AbortSignal): Promise<Overview> {
    const found = await catalog.find({ kind: "overview", schema }, signal);
    if (found === undefined) throw notFound(path);
    const [rows, enums, named] = await Promise.all([
      connection.query(tablesQuery(schema, undefined, allow, maxTables * 2 + 1), signal),
      connection.query(enumsQuery(schema), signal),
      functions !== "none"
        ? catalog.things({ scope: { kind: "functions", schema }, limit: maxTables }, signal)
        : { things: [] as readonly CatalogItem[] },
    ]);
    const tables = rows.flatMap((row) => toDescription(row, database, schema, allow) ?? []);
    return {
      database,
      schema,
      comment: found.comment,
      tables: tables.slice(0, maxTables),
      enums: enums.map(toEnum),
      functions: named.things.flatMap(({ place }) => (place.kind === "function" ? [place.name] : [])),
      leftOut: Math.max(0, tables.length - maxTables),
    };
  }

  async function readOverview(schema: string, format: TableFormat, path: string, signal: AbortSignal) {
    return overviewPart(await overviewOf(schema, path, signal), format);
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

  async function readEnums(schema: string, path: string, signal: AbortSignal) {
    const rows = allow.schema(schema) ? await connection.query(enumsQuery(schema), signal) : [];
    if (rows.length === 0) throw notFound(path);
    return textPart(JSON.stringify({ database, schema, enums: rows.map(toEnum) }), "application/json");
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
      case "enums":
        formatAt(at, place);
        return [await readEnums(place.schema, path, signal)];
      case "function":
        return [await readFunction(place.schema, place.name, formatAt(at, place).format, path, signal)];
      default:
        return undefined;
    }
  }

  return { read, shapeOf };
}

/** The format requested at an address, and its type. */
export function formatAt(
  at: Address,
  { kind }: PostgresAddress,
): { readonly format: TableFormat; readonly mimeType: string } {
  const isPlain = kind === "enums" || kind === "function";
  const known: readonly TableFormat[] =
    kind === "enums" ? ["json"] : kind === "function" ? ["json", "ddl"] : tableFormats;
  const format = tableFormatOf(at, kind === "overview" ? "markdown" : "json", known);
  return { format, mimeType: tableTypeOf(format, isPlain ? "application/json" : schemaType) };
}

/** The short form of an address shows no more than the full form. */
export function revealing(place: PostgresAddress): { readonly reveals?: Address } {
  return isLeaf(place) && place.isShort
    ? { reveals: { path: postgresPath({ kind: place.kind, schema: place.schema, name: place.name }) } }
    : {};
}
