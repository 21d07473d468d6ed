/** Tables in the catalogue: one statement for one table or a whole schema, with all that their DDL needs. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import type { TableKind } from "../../backends/sql/description.ts";
import { attachedColumn, sequencesColumn, tableComments } from "./attached.ts";
import { readableTable } from "./catalog.ts";
import {
  columnGrants,
  foreignOptions,
  grantsColumn,
  optionsColumn,
  sequenceOptions,
  takesOwnRow,
} from "./catalog-sql.ts";
import type { PostgresQuery } from "./connection.ts";
import { mentionsColumn } from "./mentions.ts";
import { readsColumn } from "./view-reads.ts";

export const tableKinds: Readonly<Record<string, TableKind>> = {
  r: "table",
  p: "partitioned table",
  f: "foreign table",
  v: "view",
  m: "materialized view",
};

const columnNames = (relation: string, keys: string) => `(
  SELECT json_agg(named.attname ORDER BY key.at) FROM unnest(${keys}) WITH ORDINALITY key (number, at)
  JOIN pg_attribute named ON named.attrelid = ${relation} AND named.attnum = key.number)`;

/** Names of the columns of a table in their order. */
const columnOrder = (relation: string) =>
  `(SELECT array_agg(ca.attname ORDER BY ca.attnum) FROM pg_attribute ca WHERE ca.attrelid = ${relation} AND ca.attnum > 0 AND NOT ca.attisdropped)`;

/** Options of an identity column. Its sequence is named only if the name is not the usual one. */
const identityOptions = `(
  SELECT concat_ws(' ', CASE WHEN sc.relname <> c.relname || '_' || a.attname || '_seq' OR sc.relnamespace <> c.relnamespace
      THEN 'SEQUENCE NAME ' || sc.oid::regclass END, nullif(${sequenceOptions}, ''))
  FROM pg_depend q JOIN pg_class sc ON sc.oid = q.objid JOIN pg_sequence sq ON sq.seqrelid = sc.oid
  WHERE q.classid = 'pg_class'::regclass AND q.refclassid = 'pg_class'::regclass AND q.refobjid = c.oid AND q.refobjsubid = a.attnum
    AND q.deptype = 'i')`;

/**
 * From PostgreSQL 18 on, NOT NULL is a constraint with a name; `inline` is null if it cannot be part of the column. An inherited one has the
 * name of the parent's, which may be a hidden table.
 */
const notNull = `(
  SELECT json_build_object('id', 'pg_constraint:' || k.oid, 'isLocal', k.conislocal, 'add', concat('ADD ', CASE WHEN k.coninhcount = 0 THEN format('CONSTRAINT %I ', k.conname) END, pg_get_constraintdef(k.oid)),
    'inline', CASE WHEN k.convalidated THEN concat_ws(' ', CASE WHEN k.coninhcount = 0 AND k.conname <> c.relname || '_' || a.attname || '_not_null'
      THEN 'CONSTRAINT ' || quote_ident(k.conname) END, 'NOT NULL', CASE WHEN k.connoinherit THEN 'NO INHERIT' END) END)
  FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'n' AND k.conkey = ARRAY[a.attnum])`;

/** Only the options that users can set: a server may keep others there for itself, which pg_dump leaves out too. */
const columnOptions = optionsColumn("a.attoptions", "", "starts_with(op.option_name, 'n_distinct')");

/** `pa` is the column of the first parent, `pd` its default value. */
const columns = (allow: AllowList) => `(
  SELECT json_agg(json_build_object(
    'name', a.attname, 'quoted', quote_ident(a.attname), 'type', format_type(a.atttypid, a.atttypmod), 'typeSchema', tn.nspname,
    'typeTable', CASE WHEN w.relkind <> 'c' THEN json_build_array(wn.nspname, w.relname) END,
    'nullable', NOT a.attnotnull, 'notNull', CASE WHEN a.attnotnull THEN ${notNull} END, 'default', pg_get_expr(d.adbin, d.adrelid), 'generated', a.attgenerated,
    'identity', a.attidentity, 'identityOptions', CASE WHEN a.attidentity <> '' THEN ${identityOptions} END,
    'comment', col_description(c.oid, a.attnum),
    'collation', CASE WHEN a.attcollation <> ty.typcollation THEN json_build_array(con.nspname, co.collname, format('%I.%I', con.nspname, co.collname)) END,
    'isLocal', a.attislocal, 'parentDefault', pg_get_expr(pd.adbin, pd.adrelid), 'parentNullable', NOT coalesce(pa.attnotnull, false),
    'foreignOptions', ${foreignOptions("a.attfdwoptions")},
    'changes', array_remove(ARRAY[
      CASE WHEN a.attstorage <> ty.typstorage THEN 'SET STORAGE ' ||
        CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END END,
      CASE WHEN a.attlen < 0 THEN CASE to_jsonb(a) ->> 'attcompression' WHEN 'p' THEN 'SET COMPRESSION pglz' WHEN 'l' THEN 'SET COMPRESSION lz4' END END,
      CASE WHEN a.attstattarget >= 0 THEN 'SET STATISTICS ' || a.attstattarget END,
      'SET (' || ${columnOptions} || ')'], NULL),
    'mentions', CASE WHEN d.oid IS NOT NULL THEN ${mentionsColumn("'pg_attrdef'::regclass", "d.oid", "c.oid", allow)} END) ORDER BY a.attnum)
  FROM pg_attribute a
  JOIN pg_type ty ON ty.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = ty.typnamespace
  LEFT JOIN pg_type el ON el.oid = ty.typelem AND ty.typelem <> 0
  LEFT JOIN pg_class w ON w.oid = coalesce(nullif(ty.typrelid, 0), el.typrelid)
  LEFT JOIN pg_namespace wn ON wn.oid = w.relnamespace
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  LEFT JOIN pg_collation co ON co.oid = a.attcollation LEFT JOIN pg_namespace con ON con.oid = co.collnamespace
  LEFT JOIN LATERAL (SELECT p.* FROM pg_inherits h JOIN pg_attribute p ON p.attrelid = h.inhparent AND p.attname = a.attname
    WHERE h.inhrelid = c.oid AND a.attinhcount > 0 ORDER BY h.inhseqno LIMIT 1) pa ON true
  LEFT JOIN pg_attrdef pd ON pd.adrelid = pa.attrelid AND pd.adnum = pa.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)`;

/**
 * The index `x` of pg_index, `ic` of pg_class. The server's text of a constraint has no options of its index, and neither its nor that of an
 * index has a tablespace.
 */
const index = (
  isConstraint: boolean,
) => `json_build_object('id', 'pg_class:' || ic.oid, 'quoted', ic.oid::regclass, 'name', quote_ident(ic.relname),
  'parent', (SELECT h.inhparent::regclass FROM pg_inherits h WHERE h.inhrelid = ic.oid), 'isClustered', x.indisclustered, 'isIdentity', x.indisreplident,
  'changes', array_remove(ARRAY[
    ${isConstraint ? `'SET (' || ${optionsColumn("ic.reloptions")} || ')'` : "NULL"},
    (SELECT 'SET TABLESPACE ' || quote_ident(sp.spcname) FROM pg_tablespace sp WHERE sp.oid = ic.reltablespace)], NULL)
    || ARRAY(SELECT format('ALTER COLUMN %s SET STATISTICS %s', ia.attnum, ia.attstattarget)
        FROM pg_attribute ia WHERE ia.attrelid = ic.oid AND ia.attstattarget >= 0 ORDER BY ia.attnum))`;

/** The collations and operator classes of an exclusion are recorded for its index only. */
const constraints = (allow: AllowList) => `(
  SELECT json_agg(json_build_object('id', 'pg_constraint:' || k.oid, 'name', k.conname, 'quoted', quote_ident(k.conname), 'kind', k.contype,
    'columns', coalesce(${columnNames("c.oid", "k.conkey")}, '[]'::json), 'definition', pg_get_constraintdef(k.oid, true),
    'isLocal', k.conislocal, 'isLate', NOT k.convalidated OR ${takesOwnRow},
    'index', CASE WHEN ic.oid IS NOT NULL THEN ${index(true)} END,
    'mentions', CASE k.contype WHEN 'x' THEN ${mentionsColumn("'pg_class'::regclass", "k.conindid", "c.oid", allow)}
      ELSE ${mentionsColumn("'pg_constraint'::regclass", "k.oid", "c.oid", allow)} END) ORDER BY k.contype <> 'p', k.conname)
  FROM pg_constraint k LEFT JOIN pg_index x ON x.indexrelid = k.conindid LEFT JOIN pg_class ic ON ic.oid = k.conindid
  WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'c', 'x'))`;

const indexes = (allow: AllowList) => `(
  SELECT json_agg(json_build_object('id', 'pg_class:' || ic.oid, 'name', ic.relname, 'unique', x.indisunique, 'definition', pg_get_indexdef(x.indexrelid),
    'columns', (SELECT json_agg(coalesce(
        (SELECT own.attname FROM pg_attribute own WHERE own.attrelid = c.oid AND own.attnum = (x.indkey::int2[])[at - 1]
           AND own.attnum <> 0), pg_get_indexdef(x.indexrelid, at, true)) ORDER BY at)
      FROM generate_series(1, x.indnkeyatts) at),
    'index', ${index(false)},
    'mentions', ${mentionsColumn("'pg_class'::regclass", "ic.oid", "c.oid", allow)}) ORDER BY ic.relname)
  FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid
  WHERE x.indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.conrelid = c.oid
    AND k.contype IN ('p', 'u', 'x')))`;

/** Dependencies that a table has because of its partition key. */
const partitionKey = `objsubid = 0 AND refclassid IN ('pg_proc'::regclass, 'pg_collation'::regclass, 'pg_opclass'::regclass,
  'pg_operator'::regclass, 'pg_type'::regclass)`;

/** Everything about tables. Dependencies are looked up only if not everything is served. */
const described = (where: string, allow: AllowList) => `
  SELECT c.oid::text AS id, cn.nspname::text AS schema, c.relname::text AS name, c.oid::regclass::text AS quoted, c.relkind::text AS letter,
    pg_get_userbyid(c.relowner)::text AS owner, c.reltuples::float8 AS estimate, obj_description(c.oid, 'pg_class') AS comment,
    c.relpersistence = 'u' AS "isUnlogged", c.relispopulated AS "isPopulated",
    pg_get_partkeydef(c.oid) AS partition, ${mentionsColumn("'pg_class'::regclass", "c.oid", "c.oid", allow, partitionKey)} AS "partitionMentions",
    CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid::text END AS root,
    pg_get_expr(c.relpartbound, c.oid) AS bound, CASE WHEN c.relispartition
      THEN ${columnOrder("c.oid")} = ${columnOrder("(SELECT h.inhparent FROM pg_inherits h WHERE h.inhrelid = c.oid)")} END AS "isInParentOrder",
    (SELECT json_agg(json_build_object('schema', hn.nspname, 'table', hc.relname, 'quoted', hc.oid::regclass) ORDER BY h.inhseqno)
     FROM pg_inherits h JOIN pg_class hc ON hc.oid = h.inhparent JOIN pg_namespace hn ON hn.oid = hc.relnamespace WHERE h.inhrelid = c.oid) AS parents,
    (SELECT json_build_array(tn.nspname, format_type(ty.oid, NULL)) FROM pg_type ty JOIN pg_namespace tn ON tn.oid = ty.typnamespace WHERE ty.oid = c.reloftype) AS "ofType",
    (SELECT quote_ident(am.amname) FROM pg_am am WHERE am.oid = c.relam AND am.amname <> 'heap') AS method,
    (SELECT quote_ident(sp.spcname) FROM pg_tablespace sp WHERE sp.oid = c.reltablespace) AS tablespace,
    concat_ws(', ', ${optionsColumn("c.reloptions")},
      (SELECT ${optionsColumn("tc.reloptions", "toast.")} FROM pg_class tc WHERE tc.oid = c.reltoastrelid)) AS options,
    (SELECT json_build_array(quote_ident(fs.srvname), ${foreignOptions("ft.ftoptions")}) FROM pg_foreign_table ft
     JOIN pg_foreign_server fs ON fs.oid = ft.ftserver WHERE ft.ftrelid = c.oid) AS server,
    c.relrowsecurity AS "hasRowSecurity", c.relforcerowsecurity AS "isForced", c.relreplident::text AS identity,
    ${columns(allow)} AS columns, ${constraints(allow)} AS constraints,
    (SELECT json_agg(json_build_object('id', 'pg_constraint:' || k.oid, 'name', k.conname, 'quoted', quote_ident(k.conname), 'columns', ${columnNames("c.oid", "k.conkey")},
        'schema', rn.nspname, 'table', r.relname, 'to', ${columnNames("k.confrelid", "k.confkey")}, 'definition', pg_get_constraintdef(k.oid),
        'isValid', k.convalidated, 'onUpdate', k.confupdtype, 'onDelete', k.confdeltype) ORDER BY k.conname)
     FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0) AS "foreignKeys",
    (SELECT json_agg(json_build_object('schema', rn.nspname, 'table', r.relname,
        'columns', ${columnNames("k.conrelid", "k.conkey")}, 'to', ${columnNames("c.oid", "k.confkey")})
        ORDER BY rn.nspname, r.relname, k.conname)
     FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0 AND NOT r.relispartition) AS "referencedBy",
    ${indexes(allow)} AS indexes, ${attachedColumn(allow)} AS attached, ${sequencesColumn} AS sequences, ${tableComments} AS comments,
    ${grantsColumn("c.relacl", "r", "c.relowner", "'TABLE ' || c.oid::regclass")} AS grants, ${columnGrants("c.oid")} AS "columnGrants",
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid, true) END AS query,
    CASE WHEN c.relkind IN ('v', 'm') THEN (
      SELECT ${mentionsColumn("'pg_rewrite'::regclass", "r.oid", "c.oid", allow)} FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename = '_RETURN') END AS mentions,
    CASE WHEN c.relkind IN ('v', 'm') THEN ${readsColumn("c.oid", allow)} END AS reads
  FROM pg_class c JOIN pg_namespace cn ON cn.oid = c.relnamespace
  WHERE ${where}`;

/** One table, or all of a schema. */
export function tablesQuery(schema: string, table: string | undefined, allow: AllowList, limit: number): PostgresQuery {
  const where = `cn.nspname = $1::text AND ($2::text IS NULL OR c.relname = $2::text) AND has_schema_privilege(cn.oid, 'USAGE') AND ${readableTable}`;
  return {
    text: `${described(where, allow)} ORDER BY c.relname::text COLLATE "C" LIMIT ${limit}`,
    values: [schema, table ?? null],
  };
}

/** Partitions of partitioned tables, below other partitions too. */
export function partitionsQuery(roots: readonly string[], allow: AllowList, limit: number): PostgresQuery {
  return {
    text: `SELECT d.* FROM (
        SELECT tree.relid, tree.level FROM unnest($1::text[]) root CROSS JOIN LATERAL pg_partition_tree(root::oid::regclass) tree
        JOIN pg_class named ON named.oid = tree.relid
        WHERE tree.level > 0 ORDER BY tree.level, named.relname::text COLLATE "C" LIMIT ${limit}) chosen
      CROSS JOIN LATERAL (${described("c.oid = chosen.relid", allow)}) d
      ORDER BY chosen.level, d.name COLLATE "C"`,
    values: [roots],
  };
}
