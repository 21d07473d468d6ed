/** Enums, domains, composite types and range types in the catalogue. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import type { TypeDescription } from "../../backends/sql/description.ts";
import { ownType } from "./catalog.ts";
import { commentsColumn, grantsColumn } from "./catalog-sql.ts";
import type { PostgresQuery, PostgresRow } from "./connection.ts";
import { mayMention, type Mention, mentionsColumn } from "./mentions.ts";
import type { SchemaObject } from "./schema-ddl.ts";

/** A collation as in `COLLATE "C"`, if it is not that of the type. */
const collation = (own: string, usual: string) => `(
  SELECT format('COLLATE %I.%I', con.nspname, co.collname) FROM pg_collation co JOIN pg_namespace con ON con.oid = co.collnamespace
  WHERE co.oid = ${own} AND ${own} <> ${usual})`;

const enumDefinition = `format('CREATE TYPE %s AS ENUM (%s)', y.oid::regtype,
  (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = y.oid))`;

const domainDefinition = `(
  SELECT concat_ws(' ', format('CREATE DOMAIN %s AS %s', y.oid::regtype, format_type(y.typbasetype, y.typtypmod)),
    ${collation("y.typcollation", "b.typcollation")}, 'DEFAULT ' || pg_get_expr(y.typdefaultbin, 0), CASE WHEN y.typnotnull THEN concat((SELECT format('CONSTRAINT %I ', k.conname) FROM pg_constraint k
      WHERE k.contypid = y.oid AND k.contype = 'n' AND k.conname <> y.typname || '_not_null'), 'NOT NULL') END,
    (SELECT string_agg(format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid)), ' ' ORDER BY k.conname)
     FROM pg_constraint k WHERE k.contypid = y.oid AND k.contype = 'c' AND k.convalidated))
  FROM pg_type b WHERE b.oid = y.typbasetype)`;

const compositeDefinition = `format('CREATE TYPE %s AS (%s)', y.oid::regtype,
  (SELECT string_agg(concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod), ${collation("a.attcollation", "at.typcollation")}), ', ' ORDER BY a.attnum)
   FROM pg_attribute a JOIN pg_type at ON at.oid = a.atttypid WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped))`;

const rangeDefinition = `(
  SELECT format('CREATE TYPE %s AS RANGE (%s)', y.oid::regtype, concat_ws(', ', 'SUBTYPE = ' || format_type(g.rngsubtype, NULL),
    (SELECT format('SUBTYPE_OPCLASS = %I.%I', opn.nspname, op.opcname) FROM pg_opclass op JOIN pg_namespace opn ON opn.oid = op.opcnamespace
     WHERE op.oid = g.rngsubopc AND NOT op.opcdefault),
    replace(${collation("g.rngcollation", "st.typcollation")}, 'COLLATE ', 'COLLATION = '),
    CASE WHEN g.rngcanonical <> 0 THEN 'CANONICAL = ' || g.rngcanonical::regproc END,
    CASE WHEN g.rngsubdiff <> 0 THEN 'SUBTYPE_DIFF = ' || g.rngsubdiff::regproc END,
    'MULTIRANGE_TYPE_NAME = ' || ((to_jsonb(g) ->> 'rngmultitypid')::oid::regtype)))
  FROM pg_range g JOIN pg_type st ON st.oid = g.rngsubtype WHERE g.rngtypid = y.oid)`;

/** The statement that creates the type `y`. */
export const typeDefinition = `CASE y.typtype WHEN 'e' THEN ${enumDefinition} WHEN 'd' THEN ${domainDefinition}
  WHEN 'c' THEN ${compositeDefinition} ELSE ${rangeDefinition} END`;

export function typesQuery(schema: string, allow: AllowList, limit: number): PostgresQuery {
  const mentions = (catalogue: string, object: string) =>
    mentionsColumn(`'${catalogue}'::regclass`, object, "y.oid", allow);
  return {
    text: `
      SELECT y.oid::text AS id, y.typname::text AS name, y.typtype::text AS letter, obj_description(y.oid, 'pg_type') AS comment,
        (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = y.oid) AS values,
        ${typeDefinition} AS definition,
        (SELECT json_agg(format('ALTER DOMAIN %s ADD CONSTRAINT %I %s', y.oid::regtype, k.conname, pg_get_constraintdef(k.oid)) ORDER BY k.conname)
         FROM pg_constraint k WHERE k.contypid = y.oid AND k.contype = 'c' AND NOT k.convalidated) AS changes,
        ${commentsColumn(`SELECT 1 AS rank, 'pg_type'::regclass AS class, y.oid AS id
          UNION ALL SELECT 2, 'pg_class', y.typrelid
          UNION ALL SELECT 3, 'pg_constraint', k.oid FROM pg_constraint k WHERE k.contypid = y.oid`)} AS comments,
        ${grantsColumn("y.typacl", "T", "y.typowner", "'TYPE ' || y.oid::regtype")} AS grants,
        ${mentions("pg_type", "y.oid")} AS mentions, ${mentions("pg_class", "y.typrelid")} AS "columnMentions",
        (SELECT json_agg(m.each) FROM pg_constraint k CROSS JOIN LATERAL json_array_elements(${mentions("pg_constraint", "k.oid")}) m (each)
         WHERE k.contypid = y.oid) AS "constraintMentions"
      FROM pg_type y JOIN pg_namespace n ON n.oid = y.typnamespace
      WHERE n.nspname = $1::text AND has_schema_privilege(n.oid, 'USAGE') AND ${ownType}
      ORDER BY y.typname::text COLLATE "C" LIMIT ${limit}`,
    values: [schema],
  };
}

const kinds: Readonly<Record<string, TypeDescription["kind"]>> = { e: "enum", d: "domain", c: "composite", r: "range" };

interface RawType {
  readonly id: string;
  readonly name: string;
  readonly letter: string;
  readonly comment: string | null;
  readonly values: readonly string[] | null;
  readonly definition: string;
  readonly changes: readonly string[] | null;
  readonly comments: readonly { readonly statement: string }[] | null;
  readonly grants: readonly string[] | null;
  readonly mentions: readonly Mention[] | null;
  readonly columnMentions: readonly Mention[] | null;
  readonly constraintMentions: readonly Mention[] | null;
}

/** Types that name nothing hidden, as descriptions and as objects of a schema. */
export function toTypes(
  rows: readonly PostgresRow[],
  allow: AllowList,
): readonly { readonly description: TypeDescription; readonly object: SchemaObject }[] {
  return (rows as unknown as readonly RawType[])
    .filter((raw) =>
      [raw.mentions, raw.columnMentions, raw.constraintMentions].every((mentioned) => mayMention(mentioned, allow)),
    )
    .map(({ id, name, letter, comment, values, definition, changes, comments, grants }) => ({
      description: {
        name,
        kind: kinds[letter] ?? "composite",
        ...(values !== null && { values }),
        ...(comment !== null && { comment }),
        definition: [definition, ...(changes ?? [])].join(";\n"),
      },
      object: {
        id: `pg_type:${id}`,
        statements: [
          { section: "create", sql: definition },
          ...(changes ?? []).map((sql) => ({ section: "create" as const, sql })),
          ...(comments ?? []).map(({ statement }) => ({ section: "comment" as const, sql: statement })),
          ...(grants ?? []).map((sql) => ({ section: "grant" as const, sql })),
        ],
      },
    }));
}
