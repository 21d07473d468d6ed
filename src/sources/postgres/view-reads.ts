/** Which tables a view reads, as far as the database records it, and whether it may be served. */
import type { AllowList, TableRef } from "../../backends/sql/allow-list.ts";
import type { PostgresRow } from "./connection.ts";
import { isSystem } from "./system-schema.ts";

/**
 * All tables that a relation reads, as pairs of schema and name: through nested views, inheriting tables, and functions whose body the
 * database has parsed. Other function bodies are unknown. A partition counts as itself and as its table. The tree of a view's query is inspected too,
 * because dependencies on system tables are not recorded.
 */
const reads = (relation: string) => `(
  WITH RECURSIVE reached (catalogue, id) AS (
    SELECT 'pg_class'::regclass::oid, ${relation}
    UNION
    SELECT next.catalogue, next.id FROM reached CROSS JOIN LATERAL (
      SELECT d.refclassid AS catalogue, d.refobjid AS id
      FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
      WHERE reached.catalogue = 'pg_class'::regclass AND w.ev_class = reached.id AND w.ev_type = '1'
        AND d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
      UNION ALL
      SELECT reached.catalogue, (regexp_matches(w.ev_action::text, ':relid (\\d+)', 'g'))[1]::oid
      FROM pg_rewrite w
      WHERE reached.catalogue = 'pg_class'::regclass AND w.ev_class = reached.id AND w.ev_type = '1'
      UNION ALL
      SELECT d.refclassid, d.refobjid FROM pg_depend d
      WHERE reached.catalogue = 'pg_proc'::regclass AND d.classid = reached.catalogue AND d.objid = reached.id
        AND d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
      UNION ALL
      SELECT reached.catalogue, i.inhrelid FROM pg_inherits i JOIN pg_class parent ON parent.oid = i.inhparent
      WHERE reached.catalogue = 'pg_class'::regclass AND i.inhparent = reached.id AND parent.relkind IN ('r', 'f')) next)
  SELECT json_agg(DISTINCT jsonb_build_array(rn.nspname, t.relname))
  FROM reached JOIN pg_class rc ON reached.catalogue = 'pg_class'::regclass AND rc.oid = reached.id AND rc.oid <> ${relation}
  JOIN pg_class t ON t.oid IN (rc.oid, pg_partition_root(rc.oid)::oid)
  JOIN pg_namespace rn ON rn.oid = t.relnamespace)`;

/** The column `reads` is needed only if tables are excluded. */
export function readsColumn(relation: string, allow: AllowList): string {
  return allow.restricts.tables ? reads(relation) : "NULL::json";
}

/** Parses the column `reads` of a row. */
export function readsOf(row: PostgresRow): readonly TableRef[] {
  const pairs = (row["reads"] ?? []) as readonly (readonly [schema: string, table: string])[];
  return pairs.map(([schema, table]) => ({ schema, table }));
}

/**
 * Whether something that reads these tables may be served: not if one is excluded or a system table, which names excluded ones. A view that
 * the config names without a wildcard is always served.
 */
export function mayServe(ref: TableRef, letter: unknown, read: readonly TableRef[], allow: AllowList): boolean {
  if (!allow.table(ref)) return false;
  if ((letter !== "v" && letter !== "m") || allow.names(ref)) return true;
  return !read.some((each) => isLeftOut(each, allow));
}

/** Whether a table that something else reads is excluded. A view may read tables of schemas that are not served. */
export function isLeftOut(ref: TableRef, allow: AllowList): boolean {
  return isSystem(ref.schema) || allow.leavesOut(ref);
}
