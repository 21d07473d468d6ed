/** A whole schema as DDL that can be loaded into an empty database. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { ownFunction } from "./catalog.ts";
import { commentsColumn, createSequence, grantsColumn, takesOwnRow } from "./catalog-sql.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";
import { functionDefinition } from "./functions.ts";
import { mayMention, type Mention, mentionsColumn } from "./mentions.ts";
import { type DdlStatement, toText } from "./table-ddl.ts";

/** An object of a schema that others may need to exist before them. */
export interface SchemaObject {
  /** The catalogue and the number in it. */
  readonly id: string;
  readonly statements: readonly DdlStatement[];
}

/** Statements of all objects: each is created after those that it needs, and everything that belongs to tables follows. */
export function schemaDdl(objects: readonly SchemaObject[], needs: readonly Need[]): string {
  const known = new Map(objects.map((object) => [object.id, object]));
  const needed = Map.groupBy(needs, ({ id }) => id);
  const visited = new Set<string>();
  const statements: DdlStatement[] = [];
  function visit({ id, statements: own }: SchemaObject): void {
    if (visited.has(id)) return;
    visited.add(id);
    for (const { needs: other } of needed.get(id) ?? []) {
      const object = known.get(other);
      if (object) visit(object);
    }
    statements.push(...own);
  }
  for (const object of objects) visit(object);
  return toText(statements);
}

/** `id` must be created after `needs`. */
export interface Need {
  readonly id: string;
  readonly needs: string;
}

/**
 * Dependencies between the objects of a schema. Parts of an object count as the object: default values, constraints, indexes, partitions
 * and sequences of a table, the row type of a table, and the array type of a type. Foreign keys, triggers, rules and policies do not count:
 * they come after all tables.
 */
export function needsQuery(schema: string): PostgresQuery {
  return {
    text: `
      WITH relations AS (
        SELECT c.oid, c.relkind, c.reltype, CASE
          WHEN c.relkind = 'c' THEN 'pg_type:' || c.reltype
          ELSE 'pg_class:' || coalesce(
            CASE WHEN c.relkind IN ('i', 'I') THEN (SELECT coalesce(pg_partition_root(x.indrelid)::oid, x.indrelid) FROM pg_index x WHERE x.indexrelid = c.oid)
              WHEN c.relkind = 'S' THEN (SELECT q.refobjid FROM pg_depend q WHERE q.classid = 'pg_class'::regclass AND q.objid = c.oid
                AND q.refclassid = 'pg_class'::regclass AND q.deptype IN ('a', 'i') LIMIT 1)
              WHEN c.relispartition THEN pg_partition_root(c.oid)::oid END, c.oid) END AS object
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text),
      types AS (
        SELECT y.oid, CASE WHEN y.typrelid <> 0 THEN r.object ELSE 'pg_type:' || y.oid END AS object
        FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace LEFT JOIN relations r ON r.oid = y.typrelid
        WHERE n.nspname = $1::text),
      parts (class, id, object) AS (
        SELECT 'pg_class'::regclass, oid, object FROM relations
        UNION ALL SELECT 'pg_type', t.oid, coalesce(el.object, t.object) FROM types t JOIN pg_type y ON y.oid = t.oid
          LEFT JOIN types el ON el.oid = y.typelem AND y.typcategory = 'A'
        UNION ALL SELECT 'pg_type', m.oid, 'pg_type:' || d.refobjid FROM types m JOIN pg_type y ON y.oid = m.oid AND y.typtype = 'm'
          JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = m.oid AND d.refclassid = 'pg_type'::regclass AND d.deptype = 'i'
        UNION ALL SELECT 'pg_attrdef', d.oid, r.object FROM pg_attrdef d JOIN relations r ON r.oid = d.adrelid
        UNION ALL SELECT 'pg_constraint', k.oid, coalesce(r.object, t.object) FROM pg_constraint k
          LEFT JOIN relations r ON r.oid = k.conrelid LEFT JOIN types t ON t.oid = k.contypid WHERE k.contype <> 'f' AND NOT ${takesOwnRow}
        UNION ALL SELECT 'pg_rewrite', w.oid, r.object FROM pg_rewrite w JOIN relations r ON r.oid = w.ev_class WHERE w.rulename = '_RETURN'
        UNION ALL SELECT 'pg_proc', p.oid, 'pg_proc:' || p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1::text
        UNION ALL SELECT 'pg_collation', co.oid, 'pg_collation:' || co.oid FROM pg_collation co JOIN pg_namespace n ON n.oid = co.collnamespace
          WHERE n.nspname = $1::text)
      SELECT DISTINCT one.object AS id, other.object AS needs
      FROM pg_depend d JOIN parts one ON one.class = d.classid AND one.id = d.objid
      JOIN parts other ON other.class = d.refclassid AND other.id = d.refobjid
      WHERE one.object <> other.object
      ORDER BY 1, 2`,
    values: [schema],
  };
}

const commentsOn = (catalogue: string, id: string) =>
  commentsColumn(`SELECT 1 AS rank, '${catalogue}'::regclass AS class, ${id} AS id`);
const inSchema = (namespace: string) => `${namespace} = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = $1::text)`;
const isOwn = (catalogue: string, id: string) =>
  `NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = '${catalogue}'::regclass AND e.objid = ${id} AND e.deptype = 'e')`;

/** Objects of a schema other than types and tables, in the order in which they are created where nothing else decides. */
export function objectsQuery(schema: string, allow: AllowList, hasDefinitions: boolean, limit: number): PostgresQuery {
  const parts = [
    `SELECT 1 AS rank, n.nspname::text AS name, 'pg_namespace:' || n.oid AS id,
       CASE WHEN n.nspname <> 'public' THEN json_build_array(format('CREATE SCHEMA %I', n.nspname)) END AS statements,
       CASE WHEN obj_description(n.oid, 'pg_namespace') <> 'standard public schema' THEN ${commentsOn("pg_namespace", "n.oid")} END AS comments,
       ${grantsColumn(`(SELECT array_agg(own) FROM unnest(n.nspacl) own WHERE n.nspname <> 'public' OR NOT starts_with(own::text, '='))`, "n", "n.nspowner", "format('SCHEMA %I', n.nspname)")} AS grants,
       NULL::json AS mentions
     FROM pg_namespace n WHERE n.nspname = $1::text AND has_schema_privilege(n.oid, 'USAGE')`,
    `SELECT 2, x.extname::text, 'pg_extension:' || x.oid, json_build_array(format('CREATE EXTENSION %I WITH SCHEMA %I', x.extname, $1::text)),
       NULL, NULL, NULL
     FROM pg_extension x WHERE ${inSchema("x.extnamespace")}`,
    `SELECT 3, co.collname::text, 'pg_collation:' || co.oid, json_build_array(format('CREATE COLLATION %I.%I (PROVIDER = %s, %s%s)', $1::text, co.collname,
         CASE co.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
         coalesce('LOCALE = ' || quote_literal(coalesce(to_jsonb(co) ->> 'colllocale', to_jsonb(co) ->> 'colliculocale',
             CASE WHEN co.collprovider = 'i' OR co.collcollate = co.collctype THEN co.collcollate END)),
           format('LC_COLLATE = %L, LC_CTYPE = %L', co.collcollate, co.collctype)),
         CASE WHEN co.collisdeterministic THEN '' ELSE ', DETERMINISTIC = false' END)), ${commentsOn("pg_collation", "co.oid")}, NULL, NULL
     FROM pg_collation co WHERE ${inSchema("co.collnamespace")} AND ${isOwn("pg_collation", "co.oid")}`,
    ...(hasDefinitions
      ? [
          `SELECT 4, p.proname::text || pg_get_function_identity_arguments(p.oid), 'pg_proc:' || p.oid, json_build_array(${functionDefinition}),
       ${commentsOn("pg_proc", "p.oid")}, ${grantsColumn("p.proacl", "f", "p.proowner", "CASE p.prokind WHEN 'p' THEN 'PROCEDURE ' ELSE 'FUNCTION ' END || p.oid::regprocedure")},
       ${mentionsColumn("'pg_proc'::regclass", "p.oid", "0", allow)}
     FROM pg_proc p WHERE ${inSchema("p.pronamespace")} AND ${ownFunction}`,
        ]
      : []),
    `SELECT 5, sc.relname::text, 'pg_class:' || sc.oid, json_build_array(${createSequence}), ${commentsOn("pg_class", "sc.oid")},
       ${grantsColumn("sc.relacl", "s", "sc.relowner", "'SEQUENCE ' || sc.oid::regclass")}, json_build_array(json_build_array($1::text, sc.relname))
     FROM pg_class sc JOIN pg_sequence sq ON sq.seqrelid = sc.oid
     WHERE ${inSchema("sc.relnamespace")} AND ${isOwn("pg_class", "sc.oid")} AND NOT EXISTS (SELECT FROM pg_depend q
       WHERE q.classid = 'pg_class'::regclass AND q.objid = sc.oid AND q.refclassid = 'pg_class'::regclass AND q.deptype IN ('a', 'i'))`,
  ];
  return {
    text: `SELECT * FROM (${parts.join(" UNION ALL ")}) o ORDER BY rank, name COLLATE "C" LIMIT ${limit}`,
    values: [schema],
  };
}

interface RawObject {
  readonly id: string;
  readonly statements: readonly string[] | null;
  readonly comments: readonly { readonly statement: string }[] | null;
  readonly grants: readonly string[] | null;
  readonly mentions: readonly Mention[] | null;
}

/** Objects that name nothing hidden. */
export function toObjects(rows: readonly PostgresRow[], allow: AllowList): readonly SchemaObject[] {
  return (rows as unknown as readonly RawObject[])
    .filter(({ mentions }) => mayMention(mentions, allow))
    .map(({ id, statements, comments, grants }) => ({
      id,
      statements: [
        ...(statements ?? []).map((sql) => ({ section: "create" as const, sql })),
        ...(comments ?? []).map(({ statement }) => ({ section: "comment" as const, sql: statement })),
        ...(grants ?? []).map((sql) => ({ section: "grant" as const, sql })),
      ],
    }));
}
