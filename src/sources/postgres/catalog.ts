/** Names in the database, page by page: one statement for each page, however many names there are. */
import { pathOf, segmentsOf } from "../../source.ts";
import type { AllowList, TableRef } from "../../backends/sql/allow-list.ts";
import { isRepresentable } from "../../backends/sql/segments.ts";
import type { PostgresConnection, PostgresQuery, PostgresRow, PostgresValue } from "./connection.ts";
import type { PostgresAddress } from "./addresses.ts";
import { isSystem } from "./system-schema.ts";
import { mayServe, readsColumn, readsOf } from "./view-reads.ts";

/** A named object, as listed. */
export interface CatalogItem {
  readonly place: Extract<
    PostgresAddress,
    { kind: "schema" | "overview" | "types" | "functions" | "function" | "table" }
  >;
  /** For a table: its kind, as the letter of the catalogue. */
  readonly letter?: string;
  readonly comment?: string;
}

export interface Catalog {
  /** Everything served from a path on, in order, up to `limit` names. */
  things(request: CatalogRequest, signal: AbortSignal): Promise<CatalogPage>;
  /** The object at this address. */
  find(place: CatalogItem["place"], signal: AbortSignal): Promise<CatalogItem | undefined>;
  /** Views excluded because of what they read, though their names are allowed. */
  leftOutViews(signal: AbortSignal): Promise<readonly TableRef[]>;
  /** Names that contain the typed text; names that start with it come first. */
  suggest(request: SuggestRequest, signal: AbortSignal): Promise<readonly CatalogItem[]>;
}

interface CatalogPage {
  readonly things: readonly CatalogItem[];
  /** Where to continue, inclusive; absent at the end. */
  readonly next?: string;
}

interface CatalogRequest {
  /** What is listed: all objects that are no directories, the schemas, one schema, or its functions. */
  readonly scope: CatalogScope;
  /** From this path on, inclusive. */
  readonly from?: string;
  readonly limit: number;
}

export type CatalogScope =
  | { readonly kind: "all" | "schemas" }
  | { readonly kind: "schema" | "functions"; readonly schema: string };

export interface SuggestRequest {
  readonly what: "schema" | "table" | "function";
  readonly schema?: string;
  readonly typed: string;
}

/** Quotes a name that is reserved or not valid in a path, as `addresses.ts` does. */
const segment = (name: string) =>
  `CASE WHEN ${name} IN ('.', '..', 'overview', 'types', 'functions', 'schema', 'rows') OR starts_with(${name}, '"')
        THEN '"' || replace(${name}, '"', '""') || '"' ELSE ${name} END COLLATE "C"`;

/** Schemas with USAGE privilege. $1 and $2 are the prefixes of served names. */
const schemas = `
  SELECT n.oid, n.nspname::text AS schema, ${segment("n.nspname::text")} AS s
  FROM pg_namespace n
  WHERE NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema'
    AND has_schema_privilege(n.oid, 'USAGE')
    AND ($1::text[] IS NULL OR EXISTS (SELECT FROM beginnings b WHERE starts_with(n.nspname::text, b.s)))`;

/** Tables that the role may read. A partition belongs to its table and is not listed. */
export const readableTable = `c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))`;

/** Functions written by users, not those of an extension or of a range type. */
export const ownFunction = `has_function_privilege(p.oid, 'EXECUTE') AND NOT EXISTS (
    SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid AND e.deptype IN ('e', 'i'))`;

/** Types written by users: not those of an extension, and not the row types of tables. */
export const ownType = `y.typtype IN ('e', 'd', 'c', 'r')
    AND (y.typrelid = 0 OR (SELECT yc.relkind FROM pg_class yc WHERE yc.oid = y.typrelid) = 'c') AND NOT EXISTS (
    SELECT FROM pg_depend e WHERE e.classid = 'pg_type'::regclass AND e.objid = y.oid AND e.deptype = 'e')`;

const tables = `
  SELECT s.schema, s.s, ${segment("c.relname::text")}, '' COLLATE "C", 'table', c.relname::text, c.relkind::text, c.oid, 'pg_class', NULL::text[]
  FROM schemas s JOIN pg_class c ON c.relnamespace = s.oid
  WHERE ${readableTable}
    AND ($1::text[] IS NULL OR EXISTS (
      SELECT FROM beginnings b WHERE starts_with(s.schema, b.s) AND starts_with(c.relname::text, b.t)))`;

const overviews = `
  SELECT schema, s, 'overview' COLLATE "C", '' COLLATE "C", 'overview', '', NULL, oid, 'pg_namespace', NULL::text[] FROM schemas`;

const types = `
  SELECT schema, s, 'types' COLLATE "C", '' COLLATE "C", 'types', '', NULL, NULL::oid, '', NULL::text[] FROM schemas
  WHERE EXISTS (SELECT FROM pg_type y WHERE y.typnamespace = schemas.oid AND ${ownType})`;

/** Overloads share one name. Their types may belong to schemas that are not served. */
const functions = `
  SELECT s.schema, s.s, 'functions' COLLATE "C", ${segment("p.proname::text")}, 'function', p.proname::text, NULL, min(p.oid), 'pg_proc',
    array_agg(DISTINCT y.mentioned)
  FROM schemas s JOIN pg_proc p ON p.pronamespace = s.oid
  CROSS JOIN LATERAL (
    SELECT tn.nspname::text AS mentioned
    FROM unnest(p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) o
    JOIN pg_type ty ON ty.oid = o JOIN pg_namespace tn ON tn.oid = ty.typnamespace) y
  WHERE ${ownFunction}
  GROUP BY s.schema, s.s, p.proname`;

const functionFolders = `
  SELECT DISTINCT s.schema, s.s, 'functions' COLLATE "C", '' COLLATE "C", 'functions', '', NULL, NULL::oid, '', NULL::text[]
  FROM schemas s JOIN pg_proc p ON p.pronamespace = s.oid
  WHERE ${ownFunction}`;

const schemaThings = `
  SELECT schema, s, '' COLLATE "C", '' COLLATE "C", 'schema', '', NULL, oid, 'pg_namespace', NULL::text[] FROM schemas`;

export function createCatalog({
  connection,
  allow,
  hasFunctions,
}: {
  readonly connection: Pick<PostgresConnection, "query">;
  readonly allow: AllowList;
  readonly hasFunctions: boolean;
}): Catalog {
  const beginnings: readonly PostgresValue[] = allow.beginnings
    ? [allow.beginnings.map(({ schema }) => schema), allow.beginnings.map(({ table }) => table)]
    : [null, null];

  /** Comments, and what views read, are looked up only for the returned rows. */
  function statement(parts: readonly string[], condition: string, order: string, limit: string): string {
    return `WITH beginnings AS (SELECT b.s, b.t FROM unnest($1::text[], $2::text[]) b (s, t)),
    schemas AS MATERIALIZED (${schemas}),
    things AS (${[headings, ...parts].join(" UNION ALL ")})
    SELECT s, t, f, schema, kind, name, letter, mentions, CASE WHEN oid IS NOT NULL THEN obj_description(oid, catalogue::name) END AS comment,
      CASE WHEN letter IN ('v', 'm') THEN ${readsColumn("page.oid", allow)} END AS reads
    FROM (SELECT * FROM things WHERE ${condition} ORDER BY ${order} LIMIT ${limit}) page`;
  }

  function partsOf(scope: CatalogScope): readonly string[] {
    switch (scope.kind) {
      case "schemas":
        return [schemaThings];
      case "all":
        return [tables, overviews, types, ...(hasFunctions ? [functions] : [])];
      case "schema":
        return [tables, overviews, types, ...(hasFunctions ? [functionFolders] : [])];
      case "functions":
        return hasFunctions ? [functions] : [];
    }
  }

  /** $3 to $5 are the segments to start at, $6 the schema, $7 the limit. */
  function query({ scope, from, limit }: CatalogRequest): PostgresQuery {
    const [s = "", t = "", f = ""] = from === undefined ? [] : segmentsOf(from);
    return {
      text: statement(
        partsOf(scope),
        `(s, t, f) >= ($3, $4, $5) AND ($6::text IS NULL OR schema = $6)`,
        "s, t, f",
        "$7",
      ),
      // Nothing below a table has a name in the catalogue.
      values: [...beginnings, s, t, t === "functions" ? f : "", "schema" in scope ? scope.schema : null, limit],
    };
  }

  function isServed({ place, letter }: CatalogItem, row: PostgresRow): boolean {
    if (!allow.schema(place.schema)) return false;
    if (place.kind === "table")
      return mayServe({ schema: place.schema, table: place.name }, letter, readsOf(row), allow);
    const mentions = row["mentions"];
    return (
      !Array.isArray(mentions) || mentions.every((schema) => isSystem(String(schema)) || allow.schema(String(schema)))
    );
  }

  function toThings(rows: readonly PostgresRow[]): CatalogItem[] {
    return rows.flatMap((row) => {
      const thing = toThing(row);
      return thing && isServed(thing, row) ? [thing] : [];
    });
  }

  return {
    async things(request, signal) {
      const rows = await connection.query(query({ ...request, limit: request.limit + 1 }), signal);
      const behind = rows[request.limit];
      return {
        things: toThings(rows.slice(0, request.limit)),
        ...(behind && {
          next: pathOf([behind["s"], behind["t"], behind["f"]].map(String).filter((each) => each !== "")),
        }),
      };
    },

    async find(place, signal) {
      // A name that is not served need not be queried.
      if (!allow.schema(place.schema)) return undefined;
      const part = {
        schema: schemaThings,
        overview: overviews,
        types,
        functions: functionFolders,
        function: functions,
        table: tables,
      }[place.kind];
      if (!hasFunctions && (place.kind === "functions" || place.kind === "function")) return undefined;
      const name = "name" in place ? place.name : "";
      const rows = await connection.query(
        {
          text: statement([part], "schema = $3 AND name = $4", "s, t, f", "1"),
          values: [...beginnings, place.schema, name],
        },
        signal,
      );
      return toThings(rows)[0];
    },

    async leftOutViews(signal) {
      if (!allow.restricts.tables) return [];
      const rows = await connection.query(
        { text: statement([tables], "letter IN ('v', 'm')", "s, t, f", "10000"), values: beginnings },
        signal,
      );
      return rows.flatMap((row) => {
        const ref = { schema: String(row["schema"]), table: String(row["name"]) };
        return allow.table(ref) && !mayServe(ref, row["letter"], readsOf(row), allow) ? [ref] : [];
      });
    },

    async suggest({ what, schema, typed }, signal) {
      const part = { schema: schemaThings, table: tables, function: functions }[what];
      if (what === "function" && !hasFunctions) return [];
      const name = what === "schema" ? "schema" : "name";
      const rows = await connection.query(
        {
          text: statement(
            [part],
            `($3::text IS NULL OR schema = $3) AND position(lower($4) IN lower(${name})) > 0`,
            `NOT starts_with(${name}, $4), NOT starts_with(lower(${name}), lower($4)), ${name} COLLATE "C"`,
            "500",
          ),
          values: [...beginnings, schema ?? null, typed],
        },
        signal,
      );
      return toThings(rows);
    },
  };
}

/** The column names and types of all parts. */
const headings = `
  SELECT '' AS schema, '' COLLATE "C" AS s, '' COLLATE "C" AS t, '' COLLATE "C" AS f, '' AS kind, '' AS name, NULL::text AS letter,
    NULL::oid AS oid, '' AS catalogue, NULL::text[] AS mentions WHERE false`;

function toThing(row: PostgresRow): CatalogItem | undefined {
  const { schema, kind, name, letter, comment } = row as Readonly<Record<string, string | null>>;
  if (!isRepresentable(schema ?? "") || (name !== "" && !isRepresentable(name ?? ""))) return undefined;
  return {
    place: (name === "" ? { kind, schema } : { kind, schema, name }) as CatalogItem["place"],
    ...(letter && { letter }),
    ...(comment && { comment }),
  };
}
