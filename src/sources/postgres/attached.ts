/** Triggers, rules, policies and extended statistics of a table, as statements. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import { commentsColumn, createSequence, grantsColumn, roleName } from "./catalog-sql.ts";
import { type Mention, mentionsColumn } from "./mentions.ts";

/** An object that belongs to a table. */
export interface AttachedObject {
  /** The catalogue and the number in it. */
  readonly id: string;
  readonly kind: "trigger" | "rule" | "policy" | "statistics";
  readonly name: string;
  readonly statements: readonly string[];
  /** Whether it holds texts that may name anything. */
  readonly isOpaque: boolean;
  readonly mentions: readonly Mention[] | null;
}

/** A sequence that belongs to a column. That of an identity column is created with the column: `create` and `own` are null. */
export interface OwnedSequence {
  readonly create: string | null;
  readonly own: string | null;
  readonly grants: readonly string[] | null;
}

/** A trigger or rule that is not enabled in the usual way. */
const enabled = (letter: string, what: string, name: string) =>
  `CASE ${letter} WHEN 'O' THEN NULL ELSE format('ALTER TABLE %s %s ${what} %I', c.oid::regclass,
     CASE ${letter} WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, ${name}) END`;

const triggers = `
  SELECT 'pg_trigger'::regclass AS class, t.oid AS id, 'trigger' AS kind, t.tgname::text AS name, t.tgnargs > 0 AS opaque,
    CASE WHEN t.tgparentid = 0 THEN pg_get_triggerdef(t.oid) END AS definition, 
    CASE WHEN t.tgparentid <> 0 AND t.tgenabled = 'O' THEN format('ALTER TABLE %s ENABLE TRIGGER %I', c.oid::regclass, t.tgname)
      ELSE ${enabled("t.tgenabled", "TRIGGER", "t.tgname")} END AS state
  FROM pg_trigger t LEFT JOIN pg_trigger parent ON parent.oid = t.tgparentid
  WHERE t.tgrelid = c.oid AND (t.tgparentid = 0 AND NOT t.tgisinternal OR t.tgenabled <> parent.tgenabled)`;

const rules = `
  SELECT 'pg_rewrite'::regclass, r.oid, 'rule', r.rulename::text, false, rtrim(pg_get_ruledef(r.oid), ';'), ${enabled("r.ev_enabled", "RULE", "r.rulename")}
  FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'`;

const policies = `
  SELECT 'pg_policy'::regclass, p.oid, 'policy', p.polname::text, false,
    format('CREATE POLICY %I ON %s%s FOR %s TO %s%s%s', p.polname, c.oid::regclass, CASE WHEN p.polpermissive THEN '' ELSE ' AS RESTRICTIVE' END,
      CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
      (SELECT string_agg(${roleName("role.id")}, ', ' ORDER BY role.at) FROM unnest(p.polroles) WITH ORDINALITY role (id, at)),
      ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')'), NULL
  FROM pg_policy p WHERE p.polrelid = c.oid`;

const statistics = `
  SELECT 'pg_statistic_ext'::regclass, s.oid, 'statistics', s.stxname::text, false, pg_get_statisticsobjdef(s.oid),
    CASE WHEN s.stxstattarget >= 0 THEN format('ALTER STATISTICS %I.%I SET STATISTICS %s', sn.nspname, s.stxname, s.stxstattarget) END
  FROM pg_statistic_ext s JOIN pg_namespace sn ON sn.oid = s.stxnamespace WHERE s.stxrelid = c.oid`;

/** Of the table `c`. */
export function attachedColumn(allow: AllowList): string {
  return `(
    SELECT json_agg(json_build_object('id', o.class::text || ':' || o.id, 'kind', o.kind, 'name', o.name, 'isOpaque', o.opaque,
      'statements', array_remove(ARRAY[o.definition, o.state], NULL),
      'mentions', ${mentionsColumn("o.class", "o.id", "c.oid", allow)}) ORDER BY o.name)
    FROM (${[triggers, rules, policies, statistics].join(" UNION ALL ")}) o)`;
}

const ownedSequences = `q.refclassid = 'pg_class'::regclass AND q.refobjid = c.oid AND q.classid = 'pg_class'::regclass AND sc.relkind = 'S'`;

/** Sequences that columns of the table `c` own. */
export const sequencesColumn = `(
  SELECT json_agg(json_build_object('create', CASE q.deptype WHEN 'a' THEN ${createSequence} END,
    'own', CASE q.deptype WHEN 'a' THEN format('ALTER SEQUENCE %s OWNED BY %s.%I', sc.oid::regclass, c.oid::regclass, sa.attname) END,
    'grants', ${grantsColumn("sc.relacl", "s", "sc.relowner", "'SEQUENCE ' || sc.oid::regclass")}) ORDER BY sc.relname)
  FROM pg_depend q JOIN pg_class sc ON sc.oid = q.objid JOIN pg_sequence sq ON sq.seqrelid = sc.oid
  JOIN pg_attribute sa ON sa.attrelid = q.refobjid AND sa.attnum = q.refobjsubid
  WHERE ${ownedSequences} AND q.deptype IN ('a', 'i'))`;

/** Of the table `c` and everything that belongs to it. */
export const tableComments = commentsColumn(`
  SELECT 1 AS rank, 'pg_class'::regclass AS class, c.oid AS id
  UNION ALL SELECT 2, 'pg_class', sc.oid FROM pg_depend q JOIN pg_class sc ON sc.oid = q.objid
    WHERE ${ownedSequences} AND q.deptype IN ('a', 'i')
  UNION ALL SELECT 3, 'pg_constraint', k.oid FROM pg_constraint k WHERE k.conrelid = c.oid
  UNION ALL SELECT 4, 'pg_class', x.indexrelid FROM pg_index x WHERE x.indrelid = c.oid
  UNION ALL SELECT 5, 'pg_trigger', t.oid FROM pg_trigger t WHERE t.tgrelid = c.oid
  UNION ALL SELECT 6, 'pg_rewrite', r.oid FROM pg_rewrite r WHERE r.ev_class = c.oid
  UNION ALL SELECT 7, 'pg_policy', p.oid FROM pg_policy p WHERE p.polrelid = c.oid
  UNION ALL SELECT 8, 'pg_statistic_ext', s.oid FROM pg_statistic_ext s WHERE s.stxrelid = c.oid`);
