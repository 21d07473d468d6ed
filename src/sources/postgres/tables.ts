/** Table definitions in the catalogue: one statement for one table or a whole schema. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { createStatement } from "../../backends/sql/ddl.ts";
import type {
  TableColumn,
  Constraint,
  ForeignKey,
  TableIndex,
  Reference,
  TableDescription,
  TableKind,
} from "../../backends/sql/description.ts";
import { readableTable } from "./catalog.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";
import { isSystem } from "./system-schema.ts";
import { mayServe, readsColumn, readsOf } from "./view-reads.ts";

export const tableKinds: Readonly<Record<string, TableKind>> = {
  r: "table",
  p: "partitioned table",
  f: "foreign table",
  v: "view",
  m: "materialized view",
};

/** A catalogue object that an expression depends on. */
export type Mention = readonly [schema: string | null, table: string | null];

/** What an object depends on: the schema of each, and its table if it is one, or a row type, or a sequence of a table. */
const mentions = (catalogue: string, object: string) => `
  (
    SELECT json_agg(DISTINCT jsonb_build_array(coalesce(o.schema, i.schema), o.name))
    FROM (SELECT DISTINCT refclassid, refobjid FROM pg_depend
          WHERE classid = '${catalogue}'::regclass AND objid = ${object} AND deptype <> 'i' AND refobjid <> c.oid) d
    CROSS JOIN LATERAL pg_identify_object(d.refclassid, d.refobjid, 0) i
    LEFT JOIN LATERAL (
      SELECT wn.nspname::text AS schema, w.relname::text AS name
      FROM pg_class w JOIN pg_namespace wn ON wn.oid = w.relnamespace
      WHERE w.relkind <> 'S' AND w.oid = CASE
        WHEN d.refclassid = 'pg_class'::regclass THEN coalesce(
          (SELECT q.refobjid FROM pg_depend q WHERE q.classid = 'pg_class'::regclass AND q.objid = d.refobjid
             AND q.refclassid = 'pg_class'::regclass AND q.deptype IN ('a', 'i') LIMIT 1), d.refobjid)
        WHEN d.refclassid = 'pg_type'::regclass THEN
          (SELECT coalesce(nullif(ty.typrelid, 0), el.typrelid) FROM pg_type ty LEFT JOIN pg_type el ON el.oid = ty.typelem
           WHERE ty.oid = d.refobjid)
      END) o ON true)`;

const columnNames = (relation: string, keys: string) => `(
  SELECT json_agg(named.attname ORDER BY key.at) FROM unnest(${keys}) WITH ORDINALITY key (number, at)
  JOIN pg_attribute named ON named.attrelid = ${relation} AND named.attnum = key.number)`;

/** Dependencies of expressions are needed only if not everything is served. */
const described = (where: string, allow: AllowList) => {
  const isRestricted = allow.restricts.schemas || allow.restricts.tables;
  const mentionsOf = (catalogue: string, object: string) => (isRestricted ? mentions(catalogue, object) : "NULL");
  return `
  SELECT c.relname::text AS name, c.relkind::text AS letter, pg_get_userbyid(c.relowner)::text AS owner,
    obj_description(c.oid, 'pg_class') AS comment, pg_get_partkeydef(c.oid) AS partition,
    (SELECT json_agg(json_build_object(
        'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'typeSchema', tn.nspname,
        'typeTable', CASE WHEN w.relkind <> 'c' THEN json_build_array(wn.nspname, w.relname) END,
        'nullable', NOT a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid), 'generated', a.attgenerated,
        'identity', a.attidentity, 'comment', col_description(c.oid, a.attnum),
        'collation', CASE WHEN a.attcollation <> ty.typcollation THEN co.collname END,
        'mentions', CASE WHEN d.oid IS NOT NULL THEN ${mentionsOf("pg_attrdef", "d.oid")} END) ORDER BY a.attnum)
     FROM pg_attribute a
     JOIN pg_type ty ON ty.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = ty.typnamespace
     LEFT JOIN pg_type el ON el.oid = ty.typelem AND ty.typelem <> 0
     LEFT JOIN pg_class w ON w.oid = coalesce(nullif(ty.typrelid, 0), el.typrelid)
     LEFT JOIN pg_namespace wn ON wn.oid = w.relnamespace
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     LEFT JOIN pg_collation co ON co.oid = a.attcollation
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT json_agg(json_build_object('name', k.conname, 'kind', k.contype,
        'columns', coalesce(${columnNames("c.oid", "k.conkey")}, '[]'::json), 'definition', pg_get_constraintdef(k.oid, true),
        'mentions', ${mentionsOf("pg_constraint", "k.oid")}) ORDER BY k.conname)
     FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'c', 'x')) AS constraints,
    (SELECT json_agg(json_build_object('name', k.conname, 'columns', ${columnNames("c.oid", "k.conkey")},
        'schema', rn.nspname, 'table', r.relname, 'to', ${columnNames("k.confrelid", "k.confkey")},
        'onUpdate', k.confupdtype, 'onDelete', k.confdeltype) ORDER BY k.conname)
     FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0) AS "foreignKeys",
    (SELECT json_agg(json_build_object('schema', rn.nspname, 'table', r.relname,
        'columns', ${columnNames("k.conrelid", "k.conkey")}, 'to', ${columnNames("c.oid", "k.confkey")})
        ORDER BY rn.nspname, r.relname, k.conname)
     FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0 AND NOT r.relispartition) AS "referencedBy",
    (SELECT json_agg(json_build_object('name', ic.relname, 'unique', x.indisunique, 'definition', pg_get_indexdef(x.indexrelid),
        'columns', (SELECT json_agg(coalesce(
            (SELECT own.attname FROM pg_attribute own WHERE own.attrelid = c.oid AND own.attnum = (x.indkey::int2[])[at - 1]
               AND own.attnum <> 0), pg_get_indexdef(x.indexrelid, at, true)) ORDER BY at)
          FROM generate_series(1, x.indnkeyatts) at),
        'mentions', ${mentionsOf("pg_class", "ic.oid")}) ORDER BY ic.relname)
     FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid
     WHERE x.indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.conrelid = c.oid
       AND k.contype IN ('p', 'u', 'x'))) AS indexes,
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid, true) END AS query,
    CASE WHEN c.relkind IN ('v', 'm') THEN (
      SELECT ${mentionsOf("pg_rewrite", "r.oid")} FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename = '_RETURN') END AS mentions,
    CASE WHEN c.relkind IN ('v', 'm') THEN ${readsColumn("c.oid", allow)} END AS reads
  FROM pg_class c
  WHERE ${where} AND ${readableTable}`;
};

/** One table, or all of a schema. */
export function tablesQuery(schema: string, table: string | undefined, allow: AllowList, limit: number): PostgresQuery {
  const where = `c.relnamespace = n.oid AND ($2::text IS NULL OR c.relname = $2::text)`;
  return {
    text: `SELECT d.*, (SELECT e.reltuples::float8 FROM pg_class e WHERE e.relnamespace = n.oid AND e.relname = d.name) AS estimate
      FROM pg_namespace n
      CROSS JOIN LATERAL (${described(where, allow)} ORDER BY c.relname::text COLLATE "C" LIMIT ${limit}) d
      WHERE n.nspname = $1::text AND has_schema_privilege(n.oid, 'USAGE')`,
    values: [schema, table ?? null],
  };
}

/** A number that changes with each row of a catalogue: each row has its last writer. */
const summed = (key: string, text: string, from: string) =>
  `(SELECT ${key} AS of, sum(hashtextextended(${text}, 0)) AS digest FROM ${from} GROUP BY 1)`;

/**
 * A digest of each table description, to detect changes. Texts that name other objects count as text, since they change with those names;
 * the rest counts by its last writer.
 */
export const tableDigests = (allow: AllowList) => `
  SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS letter,
    CASE WHEN c.relkind IN ('v', 'm') THEN ${readsColumn("c.oid", allow)} END AS reads, concat_ws(':', c.relkind, c.relowner, hashtext(c.relacl::text),
    a.digest, d.digest, k.digest, x.digest, o.digest,
    CASE WHEN c.relkind IN ('v', 'm') THEN hashtextextended(pg_get_viewdef(c.oid), 0) END) AS digest
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN ${summed("attrelid", "attnum || ':' || xmin::text || CASE WHEN atttypid >= 16384 THEN format_type(atttypid, NULL) ELSE '' END", "pg_attribute WHERE attnum > 0")} a ON a.of = c.oid
  LEFT JOIN ${summed("adrelid", "adnum || ':' || xmin::text", "pg_attrdef")} d ON d.of = c.oid
  LEFT JOIN ${summed(
    "side",
    "id || ':' || writer || CASE WHEN contype = 'f' THEN conrelid::regclass::text || pg_get_constraintdef(id) ELSE '' END",
    `(SELECT conrelid AS side, oid AS id, xmin::text AS writer, contype, conrelid FROM pg_constraint
      UNION ALL SELECT confrelid, oid, xmin::text, contype, conrelid FROM pg_constraint WHERE contype = 'f') sides`,
  )} k ON k.of = c.oid
  LEFT JOIN ${summed("indrelid", "indexrelid || ':' || i.xmin::text || ic.relname", "pg_index i JOIN pg_class ic ON ic.oid = indexrelid")} x ON x.of = c.oid
  LEFT JOIN ${summed("objoid", "objsubid || ':' || xmin::text", "pg_description WHERE classoid = 'pg_class'::regclass")} o ON o.of = c.oid
  WHERE NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
    AND ${readableTable}`;

/** Replaces what may not be named. */
export const hiddenText = "…";

/** Undefined for a table that is not served. From others, everything hidden is removed here, and nowhere else. */
export function toDescription(
  row: PostgresRow,
  database: string,
  schema: string,
  allow: AllowList,
): TableDescription | undefined {
  const raw = row as unknown as RawTable;
  if (!mayServe({ schema, table: raw.name }, raw.letter, readsOf(row), allow)) return undefined;
  const mayShow = (mentioned: readonly Mention[] | null | undefined) =>
    (mentioned ?? []).every((each) => mayName(each, allow));
  const constraints = raw.constraints ?? [];
  const primary = constraints.find(({ kind }) => kind === "p");
  const kind = tableKinds[raw.letter] ?? "table";
  const description: TableDescription = {
    database,
    schema,
    table: raw.name,
    kind,
    owner: raw.owner,
    ...(raw.comment !== null && { comment: raw.comment }),
    // Negative: never counted.
    ...(raw.estimate >= 0 && kind !== "view" && { rowEstimate: Math.round(raw.estimate) }),
    columns: (raw.columns ?? []).map((column) => toColumn(column, mayShow)),
    primaryKey: primary?.columns,
    constraints: constraints
      .filter((each) => each.kind !== "p" && mayShow(each.mentions))
      .map(({ name, kind: letter, columns, definition }) => ({
        name,
        kind: letter === "u" ? "unique" : letter === "c" ? "check" : "exclusion",
        columns,
        definition,
      })),
    foreignKeys: (raw.foreignKeys ?? []).filter((key) => allow.table(key)).map(toForeignKey),
    referencedBy: (raw.referencedBy ?? []).filter((key) => allow.table(key)),
    indexes: (raw.indexes ?? [])
      .filter((index) => mayShow(index.mentions))
      .map(({ name, unique, columns, definition }) => ({ name, unique, columns, definition })),
    ...(raw.partition !== null && { suffix: `PARTITION BY ${raw.partition}` }),
    ...(raw.query !== null && mayShow(raw.mentions) && mayShow(raw.reads) && { query: raw.query }),
  };
  return { ...description, definition: createStatement(description) };
}

/** Whether an object that explains another may be named. */
export function mayName([schema, table]: Mention, allow: AllowList): boolean {
  if (schema === null || isSystem(schema)) return true;
  return allow.schema(schema) && (table === null || allow.table({ schema, table }));
}

interface RawTable {
  readonly name: string;
  readonly letter: string;
  readonly owner: string;
  readonly comment: string | null;
  readonly estimate: number;
  readonly partition: string | null;
  readonly columns: readonly RawColumn[] | null;
  readonly constraints:
    | readonly (Omit<Constraint, "kind"> & { readonly kind: string; readonly mentions: readonly Mention[] | null })[]
    | null;
  readonly foreignKeys: readonly RawForeignKey[] | null;
  readonly referencedBy: readonly (Reference & { readonly schema: string })[] | null;
  readonly indexes: readonly (Required<TableIndex> & { readonly mentions: readonly Mention[] | null })[] | null;
  readonly query: string | null;
  readonly mentions: readonly Mention[] | null;
  /** For a view, including indirect reads. */
  readonly reads: readonly Mention[] | null;
}

interface RawColumn {
  readonly name: string;
  readonly type: string;
  readonly typeSchema: string;
  readonly typeTable: readonly [schema: string, table: string] | null;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly generated: string;
  readonly identity: string;
  readonly collation: string | null;
  readonly comment: string | null;
  readonly mentions: readonly Mention[] | null;
}

function toColumn(raw: RawColumn, mayShow: (mentioned: readonly Mention[] | null) => boolean): TableColumn {
  const { name, type, typeSchema, typeTable, nullable, generated, identity, collation, comment } = raw;
  const expression = raw.default === null ? undefined : mayShow(raw.mentions) ? raw.default : hiddenText;
  return {
    name,
    type: mayShow([typeTable ?? [typeSchema, null]]) ? type : hiddenText,
    nullable,
    ...(expression !== undefined &&
      (generated === "" ? { default: expression } : { generated: expression, stored: generated === "s" })),
    ...(identity !== "" && { identity: identity === "a" ? ("always" as const) : ("by default" as const) }),
    ...(collation !== null && { collation }),
    ...(comment !== null && { comment }),
  };
}

interface RawForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly schema: string;
  readonly table: string;
  readonly to: readonly string[];
  readonly onUpdate: string;
  readonly onDelete: string;
}

const actions: Readonly<Record<string, string>> = {
  r: "RESTRICT",
  c: "CASCADE",
  n: "SET NULL",
  d: "SET DEFAULT",
};

function toForeignKey({ name, columns, schema, table, to, onUpdate, onDelete }: RawForeignKey): ForeignKey {
  const [update, remove] = [actions[onUpdate], actions[onDelete]];
  return {
    name,
    columns,
    references: { schema, table, columns: to },
    onUpdate: update,
    onDelete: remove,
  };
}
