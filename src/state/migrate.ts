/** Brings the tables of the shared database to this version, while instances of other versions may run. */
import { createHash } from "node:crypto";
import { lastingFailure, quote } from "../errors.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";
import { isContract, type Migration, type MigrationState } from "./migrations.ts";

export interface MigrateOptions {
  /** Also applies contract migrations: instances of older versions must have stopped. */
  readonly withContract?: boolean;
  /** Called before contract migrations of a schema in use. If it rejects, nothing is changed. */
  check?(sql: SharedSql): Promise<void>;
  /** Called at the end of the transaction: what it stores is seen by every later `check`. */
  finish?(sql: SharedSql): Promise<unknown>;
}

const oldestServer = 150_000;

/**
 * Applies what is pending, all or nothing; an area without tables gets everything. Instances that do so at the same time wait for each other.
 * Rejects if this version cannot use the schema. Returns what it applied, in order. The database should have a long time limit.
 */
export async function migrate(
  database: SharedDatabase,
  migrations: readonly Migration[],
  { withContract = false, check, finish }: MigrateOptions = {},
): Promise<readonly Migration[]> {
  return database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock($1::bigint)", [lockOf(database.schema)]);
    await checkServer(sql);
    await prepareSchema(sql, database.schema);
    const state = await stateOf(sql, migrations);
    await checkMinimum(sql, database.schema, migrations);
    const used = new Set(state.applied.map(({ area }) => area));
    const due = state.pending.filter((each) => withContract || !used.has(each.area) || !isContract(each));
    if (due.some((each) => isContract(each) && used.has(each.area))) await check?.(sql);
    for (const each of due) await apply(sql, each);
    await finish?.(sql);
    return due;
  });
}

/** Changes nothing. Rejects if this version cannot use the schema. */
export async function readMigrations(
  database: SharedDatabase,
  migrations: readonly Migration[],
): Promise<MigrationState> {
  return database.snapshot(async (sql) => {
    await checkServer(sql);
    const [found] = await sql.query<{ made: boolean }>("select to_regclass($1) is not null as made", [
      `${database.schema}.migrations`,
    ]);
    if (!found?.made) return { applied: [], pending: migrations };
    await checkMinimum(sql, database.schema, migrations);
    return stateOf(sql, migrations);
  });
}

async function checkServer(sql: SharedSql): Promise<void> {
  const [row] = await sql.query<{ version: string; encoding: string }>(
    "select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding",
  );
  if (Number(row?.version) < oldestServer)
    throw lastingFailure(
      `the shared database runs PostgreSQL ${Math.floor(Number(row?.version) / 10_000)}; "server.state" needs PostgreSQL 15 or later`,
    );
  if (row?.encoding !== "UTF8")
    throw lastingFailure(
      `the shared database uses the encoding ${quote(String(row?.encoding))}; create a database with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
    );
}

async function prepareSchema(sql: SharedSql, schema: string): Promise<void> {
  const [row] = await sql.query<{ exists: boolean; made: boolean; tables: number; may: boolean; role: string }>(
    `select exists (select from pg_namespace where nspname = $1) as exists, to_regclass($1 || '.migrations') is not null as made,
       (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1) as tables,
       has_database_privilege(current_database(), 'create') as may, current_user::text as role`,
    [schema],
  );
  if (row?.made) return;
  if (row && row.tables > 0)
    throw lastingFailure(
      `the schema ${quote(schema)} contains tables that are not Pressmark's; choose another with ?schema= in "server.state"`,
    );
  if (row && !row.exists) {
    if (!row.may)
      throw lastingFailure(
        `the role of "server.state" may not create the schema ${quote(schema)}; let an administrator run: CREATE SCHEMA "${schema}" AUTHORIZATION ${quote(row.role)}`,
      );
    await sql.query(`create schema "${schema}"`);
  }
  await sql.query(
    `create table migrations (
      area text not null, number integer not null, title text not null, needs integer, applied timestamptz not null default clock_timestamp(),
      primary key (area, number))`,
  );
}

async function stateOf(sql: SharedSql, migrations: readonly Migration[]): Promise<MigrationState> {
  const applied = await sql.query<Pick<Migration, "area" | "number" | "title">>(
    "select area, number, title from migrations order by applied, area, number",
  );
  const names = new Set(applied.map(({ area, number }) => `${area} ${number}`));
  return { applied, pending: migrations.filter(({ area, number }) => !names.has(`${area} ${number}`)) };
}

/** A schema may be newer than this version, as long as nothing that this version uses was removed. */
async function checkMinimum(sql: SharedSql, schema: string, migrations: readonly Migration[]): Promise<void> {
  const needed = await sql.query<{ area: string; needs: number }>(
    "select area, max(needs) as needs from migrations where needs is not null group by area",
  );
  for (const { area, needs } of needed) {
    const known = Math.max(0, ...migrations.filter((each) => each.area === area).map(({ number }) => number));
    if (known < needs)
      throw lastingFailure(
        `the schema ${quote(schema)} was changed for a newer version of Pressmark (${area} ${needs}, this one knows ${known}); update Pressmark on this machine`,
      );
  }
}

async function apply(sql: SharedSql, { area, number, title, statements, needs }: Migration): Promise<void> {
  for (const statement of statements) await sql.query(statement);
  await sql.query("insert into migrations (area, number, title, needs) values ($1, $2, $3, $4)", [
    area,
    number,
    title,
    needs ?? null,
  ]);
}

/** An advisory lock that other users of the database are unlikely to use. */
function lockOf(schema: string): string {
  return createHash("sha256").update(`pressmark migrate ${schema}`).digest().readBigInt64BE(0).toString();
}
