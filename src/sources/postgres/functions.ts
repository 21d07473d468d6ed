/** Functions in the catalogue. */
import type { FunctionDescription } from "../../backends/sql/description.ts";
import { ownFunction } from "./catalog.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";

const named = (option: string, name: string, cast: string) =>
  `CASE WHEN g.${name}::oid <> 0 THEN '${option} = ' || g.${name}${cast} END`;

/** The server has no function that returns this statement. */
const aggregateDefinition = `(
  SELECT format('CREATE AGGREGATE %s(%s) (%s)', p.oid::regproc, coalesce(nullif(pg_get_function_identity_arguments(p.oid), ''), '*'), concat_ws(', ',
    'SFUNC = ' || g.aggtransfn::regproc, 'STYPE = ' || format_type(g.aggtranstype, NULL), 'SSPACE = ' || nullif(g.aggtransspace, 0),
    ${named("FINALFUNC", "aggfinalfn", "::regproc")}, CASE WHEN g.aggfinalextra THEN 'FINALFUNC_EXTRA' END,
    CASE g.aggfinalmodify WHEN 's' THEN 'FINALFUNC_MODIFY = SHAREABLE' WHEN 'w' THEN 'FINALFUNC_MODIFY = READ_WRITE' END,
    ${named("COMBINEFUNC", "aggcombinefn", "::regproc")}, ${named("SERIALFUNC", "aggserialfn", "::regproc")},
    ${named("DESERIALFUNC", "aggdeserialfn", "::regproc")}, 'INITCOND = ' || quote_literal(g.agginitval),
    ${named("MSFUNC", "aggmtransfn", "::regproc")}, ${named("MINVFUNC", "aggminvtransfn", "::regproc")},
    CASE WHEN g.aggmtranstype <> 0 THEN 'MSTYPE = ' || format_type(g.aggmtranstype, NULL) END, 'MSSPACE = ' || nullif(g.aggmtransspace, 0),
    ${named("MFINALFUNC", "aggmfinalfn", "::regproc")}, CASE WHEN g.aggmfinalextra THEN 'MFINALFUNC_EXTRA' END,
    'MINITCOND = ' || quote_literal(g.aggminitval),
    (SELECT format('SORTOP = OPERATOR(%I.%s)', opn.nspname, op.oprname) FROM pg_operator op JOIN pg_namespace opn ON opn.oid = op.oprnamespace
     WHERE op.oid = g.aggsortop),
    CASE p.proparallel WHEN 's' THEN 'PARALLEL = SAFE' WHEN 'r' THEN 'PARALLEL = RESTRICTED' END,
    CASE WHEN g.aggkind = 'h' THEN 'HYPOTHETICAL' END))
  FROM pg_aggregate g WHERE g.aggfnoid = p.oid)`;

/** The statement that creates the function `p`. */
export const functionDefinition = `CASE p.prokind WHEN 'a' THEN ${aggregateDefinition} ELSE pg_get_functiondef(p.oid) END`;

/** Overloads of one name. Without definitions, default values of arguments are left out too: both may name anything. */
export function functionsQuery(schema: string, name: string, hasDefinitions: boolean): PostgresQuery {
  const given = hasDefinitions ? "pg_get_function_arguments" : "pg_get_function_identity_arguments";
  return {
    text: `
      SELECT p.proname::text AS name, p.prokind::text AS kind, ${given}(p.oid) AS arguments, pg_get_function_result(p.oid) AS returns,
        l.lanname::text AS language, p.provolatile::text AS volatility, pg_get_userbyid(p.proowner)::text AS owner,
        obj_description(p.oid, 'pg_proc') AS comment,
        ${hasDefinitions ? functionDefinition : "NULL"} AS definition
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
      WHERE n.nspname = $1::text AND p.proname = $2::text AND has_schema_privilege(n.oid, 'USAGE') AND ${ownFunction}
      ORDER BY pg_get_function_identity_arguments(p.oid) COLLATE "C" LIMIT 200`,
    values: [schema, name],
  };
}

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
