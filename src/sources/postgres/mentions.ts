/** What an object of the catalogue depends on, to decide whether it may be shown. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { isSystem } from "./system-schema.ts";

/** A catalogue object that another depends on. */
export type Mention = readonly [schema: string | null, table: string | null];

/**
 * What an object depends on: the schema of each, and its table if it is one, or a row type, or a sequence of a table. A partition counts as
 * itself and as the table that it is part of. `self` is not counted.
 * Without restrictions nothing is looked up.
 */
export function mentionsColumn(
  catalogue: string,
  object: string,
  self: string,
  allow: AllowList,
  condition = "true",
): string {
  if (!allow.restricts.schemas && !allow.restricts.tables) return "NULL::json";
  return `
  (
    SELECT json_agg(DISTINCT jsonb_build_array(
      coalesce(o.schema, (parse_ident(CASE d.refclassid WHEN 'pg_namespace'::regclass THEN i.name ELSE i.schema END))[1]), o.name))
    FROM (SELECT DISTINCT refclassid, refobjid FROM pg_depend
          WHERE classid = ${catalogue} AND objid = ${object} AND deptype <> 'i' AND refobjid <> ${self} AND ${condition}) d
    CROSS JOIN LATERAL pg_identify_object(d.refclassid, d.refobjid, 0) i
    LEFT JOIN LATERAL (
      SELECT wn.nspname::text AS schema, w.relname::text AS name
      FROM (SELECT CASE
        WHEN d.refclassid = 'pg_class'::regclass THEN coalesce(
          (SELECT q.refobjid FROM pg_depend q JOIN pg_class qc ON qc.oid = q.objid
           WHERE q.classid = 'pg_class'::regclass AND q.objid = d.refobjid AND NOT qc.relispartition
             AND q.refclassid = 'pg_class'::regclass AND q.deptype IN ('a', 'i') LIMIT 1), d.refobjid)
        WHEN d.refclassid = 'pg_type'::regclass THEN
          (SELECT coalesce(nullif(ty.typrelid, 0), el.typrelid) FROM pg_type ty LEFT JOIN pg_type el ON el.oid = ty.typelem
           WHERE ty.oid = d.refobjid)
        END) own (id)
      JOIN pg_class w ON w.oid IN (own.id, pg_partition_root(own.id)::oid) AND w.relkind NOT IN ('S', 'c')
      JOIN pg_namespace wn ON wn.oid = w.relnamespace) o ON true)`;
}

/** Replaces what may not be named. */
export const hiddenText = "…";

/** Whether an object that explains another may be named. */
export function mayName([schema, table]: Mention, allow: AllowList): boolean {
  if (schema === null || isSystem(schema)) return true;
  return allow.schema(schema) && (table === null || allow.table({ schema, table }));
}

/** Whether everything that an object depends on may be named. */
export function mayMention(mentioned: readonly Mention[] | null | undefined, allow: AllowList): boolean {
  return (mentioned ?? []).every((each) => mayName(each, allow));
}
