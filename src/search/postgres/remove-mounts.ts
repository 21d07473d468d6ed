/** Removes mounts from the shared index in many short transactions: a statement has a time limit, and what is committed stays done. */
import type { SharedDatabase, SharedSql } from "../../state/database.ts";
import { intArray } from "./binary.ts";

/** Runs a transaction that holds the lock of writers. */
export type WriteTransaction = <T>(work: (sql: SharedSql) => Promise<T>) => Promise<T>;

/** 4 MiB of a table, with 70,000 small rows at most. */
const blocksAtOnce = 512;
/** The server has a limited number of locks, and each table takes some. */
const mountsAtOnce = 50;

/** Takes the mount and its texts out of the index. Its other rows are never read again; `sweepRemoved` deletes them. */
export async function retireMount(sql: SharedSql, mount: number): Promise<void> {
  await sql.query(`drop table search_passages_${mount}`);
  await sql.query("delete from search_mounts where id = $1", [mount]);
  await sql.query("insert into search_removed values ($1)", [mount]);
}

/** Returns whether there are more. */
export async function retireSome(sql: SharedSql): Promise<boolean> {
  const rows = await sql.query<{ id: number }>("select id from search_mounts limit $1", [mountsAtOnce]);
  for (const { id } of rows) await retireMount(sql, id);
  return rows.length === mountsAtOnce;
}

/** Deletes what is left of all removed mounts. After an interruption it is called again. */
export async function sweepRemoved(database: SharedDatabase, write: WriteTransaction): Promise<void> {
  const rows = await database.query<{ id: number }>("select id from search_removed");
  if (rows.length === 0) return;
  const removed = intArray(rows.map(({ id }) => id));
  for (const table of ["search_frequencies", "search_documents"])
    await deleteRows(database, table, (deleteWhere) =>
      write((sql) => sql.query(`${deleteWhere} and mount = any($1::integer[])`, [removed])),
    );
  await write((sql) => sql.query("delete from search_removed where id = any($1::integer[])", [removed]));
}

/**
 * Calls back with a statement for each part of a table, one after the other: parts are bounded by the blocks that they read, whatever the planner
 * knows. Rows that are added meanwhile may be left.
 */
export async function deleteRows(
  database: SharedDatabase,
  table: string,
  run: (deleteWhere: string) => Promise<unknown>,
): Promise<void> {
  const [size] = await database.query<{ blocks: number }>(
    "select ceil(pg_relation_size($1) / current_setting('block_size')::numeric) as blocks",
    [`${database.schema}.${table}`],
  );
  for (let from = 0; from < size!.blocks; from += blocksAtOnce)
    await run(`delete from ${table} where ctid >= '(${from},0)'::tid and ctid < '(${from + blocksAtOnce},0)'::tid`);
}
