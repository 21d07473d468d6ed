/** Digests of everything that is described, to detect changes. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { ownFunction, ownType, readableTable } from "./catalog.ts";
import { typeDefinition } from "./types.ts";
import { readsColumn } from "./view-reads.ts";

/** A number that changes with each row of a catalogue: each row has its last writer. */
const summed = (key: string, text: string, from: string) =>
  `(SELECT ${key} AS of, sum(hashtextextended(${text}, 0)) AS digest FROM ${from} GROUP BY 1)`;

/** Comments, with the table to which the object belongs. */
const tableComments = `(
  SELECT coalesce(k.conrelid, x.indrelid, t.tgrelid, w.ev_class, p.polrelid, s.stxrelid, d.objoid) AS side, d.classoid, d.objoid, d.objsubid,
    d.xmin::text AS writer
  FROM pg_description d
  LEFT JOIN pg_constraint k ON d.classoid = 'pg_constraint'::regclass AND k.oid = d.objoid
  LEFT JOIN pg_index x ON d.classoid = 'pg_class'::regclass AND x.indexrelid = d.objoid
  LEFT JOIN pg_trigger t ON d.classoid = 'pg_trigger'::regclass AND t.oid = d.objoid
  LEFT JOIN pg_rewrite w ON d.classoid = 'pg_rewrite'::regclass AND w.oid = d.objoid
  LEFT JOIN pg_policy p ON d.classoid = 'pg_policy'::regclass AND p.oid = d.objoid
  LEFT JOIN pg_statistic_ext s ON d.classoid = 'pg_statistic_ext'::regclass AND s.oid = d.objoid
  WHERE d.objoid >= 16384) comments`;

/** By table: the number of a catalogue's rows about it. */
const tableParts = [
  summed(
    "attrelid",
    "attnum || ':' || xmin::text || CASE WHEN atttypid >= 16384 THEN format_type(atttypid, NULL) ELSE '' END",
    "pg_attribute WHERE attnum > 0",
  ),
  summed("adrelid", "adnum || ':' || xmin::text || pg_get_expr(adbin, adrelid)", "pg_attrdef"),
  summed(
    "side",
    "id || ':' || writer || CASE WHEN contype = 'f' THEN conrelid::regclass::text || pg_get_constraintdef(id) ELSE '' END",
    `(SELECT conrelid AS side, oid AS id, xmin::text AS writer, contype, conrelid FROM pg_constraint
      UNION ALL SELECT confrelid, oid, xmin::text, contype, conrelid FROM pg_constraint WHERE contype = 'f') sides`,
  ),
  summed(
    "indrelid",
    "indexrelid || ':' || i.xmin::text || ic.relname || coalesce(ic.reloptions::text, '')",
    "pg_index i JOIN pg_class ic ON ic.oid = indexrelid",
  ),
  summed("side", "classoid || ':' || objoid || ':' || objsubid || ':' || writer", tableComments),
  summed("tgrelid", "oid || ':' || xmin::text || tgfoid::regproc", "pg_trigger WHERE NOT tgisinternal"),
  summed("ev_class", "oid || ':' || xmin::text || pg_get_ruledef(oid)", "pg_rewrite WHERE rulename <> '_RETURN'"),
  summed(
    "polrelid",
    "oid || ':' || xmin::text || concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))",
    "pg_policy",
  ),
  summed("stxrelid", "oid || ':' || xmin::text", "pg_statistic_ext"),
  summed("inhrelid", "inhseqno || ':' || inhparent::regclass", "pg_inherits"),
  summed(
    "refobjid",
    "seqrelid || ':' || s.xmin::text || seqrelid::regclass",
    "pg_sequence s JOIN pg_depend d ON d.objid = s.seqrelid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass",
  ),
];

/**
 * A digest of each table description. Texts that name other objects count as text, since they change with those names; the rest counts by
 * its last writer. Partitions count as part of their table.
 */
export const tableDigests = (allow: AllowList) => `
  WITH digests AS MATERIALIZED (
    SELECT c.oid, c.relispartition, concat_ws(':', c.relkind, c.relowner, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, c.relreplident,
      c.reltablespace, hashtext(concat(c.relacl, c.reloptions, pg_get_expr(c.relpartbound, c.oid))),
      ${tableParts.map((_, index) => `coalesce(p${index}.digest, 0)`).join(", ")},
      CASE WHEN c.relkind IN ('v', 'm') THEN hashtextextended(pg_get_viewdef(c.oid), 0) END) AS digest
    FROM pg_class c ${tableParts.map((part, index) => `LEFT JOIN ${part} p${index} ON p${index}.of = c.oid`).join("\n")}
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid >= 16384)
  SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS letter,
    CASE WHEN c.relkind IN ('v', 'm') THEN ${readsColumn("c.oid", allow)} END AS reads, concat_ws(':', own.digest, parts.digest) AS digest
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN digests own ON own.oid = c.oid
  LEFT JOIN ${summed("pg_partition_root(oid)::oid", "oid::regclass || digest", "digests WHERE relispartition")} parts ON parts.of = c.oid
  WHERE NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
    AND ${readableTable}`;

const ownSchema = `NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')`;

/** One digest for each schema, with its sequences; one for the types of a schema; and one for each function name. */
export const otherDigests = `
  SELECT n.nspname::text AS schema, 'schema' AS kind, '' AS name, concat_ws(':', obj_description(n.oid, 'pg_namespace'), hashtext(n.nspacl::text),
    (SELECT sum(hashtextextended(s.xmin::text || s.seqrelid::regclass || coalesce(obj_description(s.seqrelid, 'pg_class'), ''), 0))
     FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace = n.oid)) AS digest
  FROM pg_namespace n
  WHERE ${ownSchema}
  UNION ALL
  SELECT n.nspname::text, 'types', '', hashtextextended(string_agg(concat_ws(':', ${typeDefinition}, y.typacl, obj_description(y.oid, 'pg_type')),
    ',' ORDER BY y.typname), 0)::text
  FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace
  WHERE ${ownType} AND ${ownSchema}
  GROUP BY n.nspname
  UNION ALL
  SELECT n.nspname::text, 'function', p.proname::text, hashtextextended(string_agg(p.oid || ':' || hashtextextended(p::text, 0)
    || coalesce(obj_description(p.oid, 'pg_proc'), ''), ',' ORDER BY p.oid), 0)::text
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE ${ownSchema} AND ${ownFunction}
  GROUP BY n.nspname, p.proname`;
