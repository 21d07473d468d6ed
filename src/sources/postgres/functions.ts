/** Functions and enums in the catalogue. */
import type { EnumDescription, FunctionDescription } from "../../backends/sql/description.ts";
import { ownFunction } from "./catalog.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";

/** Overloads of one name. Without definitions, default values of arguments are left out too: both may name anything. */
export function functionsQuery(schema: string, name: string, hasDefinitions: boolean): PostgresQuery {
  const given = hasDefinitions ? "pg_get_function_arguments" : "pg_get_function_identity_arguments";
  return {
    text: `
      SELECT p.proname::text AS name, p.prokind::text AS kind, ${given}(p.oid) AS arguments, pg_get_function_result(p.oid) AS returns,
        l.lanname::text AS language, p.provolatile::text AS volatility, pg_get_userbyid(p.proowner)::text AS owner,
        obj_description(p.oid, 'pg_proc') AS comment,
        ${hasDefinitions ? "CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid) END" : "NULL"} AS definition
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
      WHERE n.nspname = $1::text AND p.proname = $2::text AND has_schema_privilege(n.oid, 'USAGE') AND ${ownFunction}
      ORDER BY pg_get_function_identity_arguments(p.oid) COLLATE "C" LIMIT 200`,
    values: [schema, name],
  };
}

export function enumsQuery(schema: string): PostgresQuery {
  return {
    text: `
      SELECT y.typname::text AS name, obj_description(y.oid, 'pg_type') AS comment,
        (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = y.oid) AS values
      FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace
      WHERE n.nspname = $1::text AND y.typtype = 'e' AND has_schema_privilege(n.oid, 'USAGE')
      ORDER BY y.typname::text COLLATE "C" LIMIT 1000`,
    values: [schema],
  };
}

/** One digest for the enums of a schema, and one for each function name. */
export const otherDigests = `
  SELECT n.nspname::text AS schema, 'schema' AS kind, '' AS name, coalesce(obj_description(n.oid, 'pg_namespace'), '') AS digest
  FROM pg_namespace n
  WHERE NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
  UNION ALL
  SELECT n.nspname::text, 'enums', '', hashtextextended(string_agg(y.typname || ':' || e.enumsortorder || ':' || e.enumlabel
    || coalesce(obj_description(y.oid, 'pg_type'), ''), ',' ORDER BY y.typname, e.enumsortorder), 0)::text
  FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace LEFT JOIN pg_enum e ON e.enumtypid = y.oid
  WHERE y.typtype = 'e' AND NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema'
    AND has_schema_privilege(n.oid, 'USAGE')
  GROUP BY n.nspname
  UNION ALL
  SELECT n.nspname::text, 'function', p.proname::text, hashtextextended(string_agg(p.oid || ':' || hashtextextended(p::text, 0)
    || coalesce(obj_description(p.oid, 'pg_proc'), ''), ',' ORDER BY p.oid), 0)::text
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema'
    AND has_schema_privilege(n.oid, 'USAGE') AND ${ownFunction}
  GROUP BY n.nspname, p.proname`;

const functionKinds: Readonly<Record<string, FunctionDescription["kind"]>> = {
  p: "procedure",
  a: "aggregate",
  w: "window function",
};
const volatilities: Readonly<Record<string, FunctionDescription["volatility"]>> = { i: "immutable", s: "stable" };

export function toFunction(row: PostgresRow): FunctionDescription {
  const raw = row as Readonly<Record<string, string | null>>;
  return {
    name: raw["name"] ?? "",
    kind: functionKinds[raw["kind"] ?? ""] ?? "function",
    arguments: raw["arguments"] ?? "",
    ...(raw["returns"] && { returns: raw["returns"] }),
    language: raw["language"] ?? "",
    volatility: volatilities[raw["volatility"] ?? ""] ?? "volatile",
    owner: raw["owner"] ?? "",
    ...(raw["comment"] && { comment: raw["comment"] }),
    ...(raw["definition"] && { definition: raw["definition"] }),
  };
}

export function toEnum(row: PostgresRow): EnumDescription {
  const { name, values, comment } = row as {
    readonly name: string;
    readonly values: readonly string[] | null;
    readonly comment: string | null;
  };
  return { name, values: values ?? [], ...(comment !== null && { comment }) };
}
