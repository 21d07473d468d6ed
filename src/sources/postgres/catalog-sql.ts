/** Parts of catalogue queries that return DDL. The server quotes all names and values in it. */

/** Privileges that differ from those of a new object, as statements. `letter` is the kind of object for `acldefault`. */
export const grantsColumn = (acl: string, letter: string, owner: string, on: string) => `(
  SELECT json_agg(g.statement ORDER BY g.statement DESC) FROM (
    SELECT format(CASE WHEN e.given THEN 'GRANT %s ON %s TO %s%s' ELSE 'REVOKE %s ON %s FROM %s' END,
      string_agg(e.privilege_type, ', ' ORDER BY e.privilege_type), ${on}, ${roleName("e.grantee")},
      CASE WHEN e.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
    FROM (
      SELECT true AS given, own.* FROM (
        SELECT grantee, privilege_type, is_grantable FROM aclexplode(${acl})
        EXCEPT SELECT grantee, privilege_type, is_grantable FROM aclexplode(acldefault('${letter}', ${owner}))) own
      UNION ALL
      SELECT false, initial.* FROM (
        SELECT grantee, privilege_type, is_grantable FROM aclexplode(acldefault('${letter}', ${owner}))
        EXCEPT SELECT grantee, privilege_type, is_grantable FROM aclexplode(${acl})) initial) e
    WHERE ${acl} IS NOT NULL
    GROUP BY e.given, e.grantee, e.is_grantable) g)`;

export const columnGrants = (relation: string) => `(
  SELECT json_agg(g.statement ORDER BY g.statement) FROM (
    SELECT format('GRANT %s ON TABLE %s TO %s%s', string_agg(format('%s (%I)', e.privilege_type, ga.attname), ', ' ORDER BY ga.attnum),
      ${relation}::regclass, ${roleName("e.grantee")}, CASE WHEN e.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
    FROM pg_attribute ga CROSS JOIN LATERAL aclexplode(ga.attacl) e
    WHERE ga.attrelid = ${relation} AND NOT ga.attisdropped
    GROUP BY e.grantee, e.is_grantable) g)`;

export function roleName(role: string): string {
  return `CASE WHEN ${role} = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(${role})) END`;
}

/** Comments on the objects that `objects` selects as `class` and `id`, as statements. Those of `rank` 1 and 2 are of the table itself. */
export const commentsColumn = (objects: string) => `(
  SELECT json_agg(json_build_object('id', d.classoid::regclass || ':' || d.objoid, 'isOwn', o.rank <= 2,
    'statement', format('COMMENT ON %s %s IS %L',
      CASE WHEN i.type LIKE '% column' THEN 'COLUMN' WHEN i.type LIKE '% constraint' THEN 'CONSTRAINT'
        WHEN i.type = 'statistics object' THEN 'STATISTICS' ELSE upper(i.type) END,
      CASE WHEN i.type = 'domain constraint'
        THEN (SELECT format('%I ON DOMAIN %s', dk.conname, dk.contypid::regtype) FROM pg_constraint dk WHERE dk.oid = d.objoid)
        ELSE i.identity END, d.description)) ORDER BY o.rank, i.identity, d.objsubid)
  FROM (${objects}) o JOIN pg_description d ON d.classoid = o.class AND d.objoid = o.id
  CROSS JOIN LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) i)`;

/** A list of options as in `WITH (…)`, without the brackets; null if there are none that meet the condition. */
export const optionsColumn = (options: string, prefix = "", condition = "true") => `(
  SELECT string_agg('${prefix}' || quote_ident(op.option_name) || '=' ||
    CASE WHEN op.option_value ~ '^([a-z_]+|[0-9]+([.][0-9]+)?)$' THEN op.option_value ELSE quote_literal(op.option_value) END, ', ')
  FROM pg_options_to_table(${options}) op WHERE ${condition})`;

/** Options of foreign tables and columns whose values are no secrets. Each wrapper has options of its own, so no list of secret ones is complete. */
const harmlessOptions = `'schema_name', 'table_name', 'column_name', 'schema', 'key', 'readonly', 'updatable', 'truncatable', 'use_remote_estimate',
  'fetch_size', 'batch_size', 'async_capable', 'analyze_sampling', 'format', 'header', 'delimiter', 'null', 'quote', 'escape', 'encoding',
  'force_not_null', 'force_null'`;

/** The clause with the options of a foreign table or column; null if it has none. */
export const foreignOptions = (options: string) => `(
  SELECT nullif(concat_ws(' ',
    'OPTIONS (' || string_agg(format('%I %L', op.option_name, op.option_value), ', ') FILTER (WHERE op.option_name IN (${harmlessOptions})) || ')',
    CASE WHEN bool_or(op.option_name NOT IN (${harmlessOptions})) THEN '/* other options are not shown */' END), '')
  FROM pg_options_to_table(${options}) op)`;

/** Whether the check `k` calls a function with a row of its own table: the table must exist before the function, and the function before the check. */
export const takesOwnRow = `EXISTS (
  SELECT FROM pg_depend kd JOIN pg_depend fd ON fd.classid = kd.refclassid AND fd.objid = kd.refobjid
  JOIN pg_class kc ON kc.oid = k.conrelid AND fd.refobjid = kc.reltype
  WHERE kd.classid = 'pg_constraint'::regclass AND kd.objid = k.oid AND kd.refclassid = 'pg_proc'::regclass AND fd.refclassid = 'pg_type'::regclass)`;

const largest = `CASE sq.seqtypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 ELSE 9223372036854775807 END`;

/** Options of the sequence `sq`, a row of pg_sequence, that differ from the defaults; empty if none does. */
export const sequenceOptions = `concat_ws(' ',
  CASE WHEN sq.seqincrement <> 1 THEN 'INCREMENT BY ' || sq.seqincrement END,
  CASE WHEN sq.seqmin <> CASE WHEN sq.seqincrement > 0 THEN 1 ELSE -${largest} - 1 END THEN 'MINVALUE ' || sq.seqmin END,
  CASE WHEN sq.seqmax <> CASE WHEN sq.seqincrement > 0 THEN ${largest} ELSE -1 END THEN 'MAXVALUE ' || sq.seqmax END,
  CASE WHEN sq.seqstart <> CASE WHEN sq.seqincrement > 0 THEN sq.seqmin ELSE sq.seqmax END THEN 'START WITH ' || sq.seqstart END,
  CASE WHEN sq.seqcache <> 1 THEN 'CACHE ' || sq.seqcache END,
  CASE WHEN sq.seqcycle THEN 'CYCLE' END)`;

/** Creates the sequence `sc`, a row of pg_class, with its row `sq` of pg_sequence. */
export const createSequence = `concat_ws(' ', 'CREATE' || CASE sc.relpersistence WHEN 'u' THEN ' UNLOGGED' ELSE '' END || ' SEQUENCE',
  sc.oid::regclass, CASE WHEN sq.seqtypid <> 'int8'::regtype THEN 'AS ' || sq.seqtypid::regtype END, nullif(${sequenceOptions}, ''))`;
