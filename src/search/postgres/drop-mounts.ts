/** Drops mounts from the shared index that no config names any more: their texts would stay in the database for ever. */
import type { SharedDatabase } from "../../state/database.ts";
import type { Leases } from "../../state/leases.ts";
import { checkFence } from "../../state/postgres-leases.ts";
import type { Store } from "../../state/store.ts";
import { stateNote, totalNote } from "../crawl.ts";
import { keyNote } from "../indexer.ts";
import { readNamedMounts } from "../named-mounts.ts";
import { indexLease } from "../index-lease.ts";
import { retireMount, sweepRemoved, type WriteTransaction } from "./remove-mounts.ts";

/** Names of indexed mounts that neither a running instance names nor `own`. */
export async function findUnnamedMounts(
  { database, records }: { readonly database: SharedDatabase; readonly records: Store },
  own: readonly string[],
): Promise<readonly string[]> {
  const named = new Set([...own, ...(await readNamedMounts(records))]);
  const rows = await database.query<{ name: string }>("select name from search_mounts order by name");
  return rows.map(({ name }) => name).filter((name) => !named.has(name));
}

/** False if an instance indexes the mount: then nothing is dropped. */
export async function dropMount(database: SharedDatabase, leases: Leases, name: string): Promise<boolean> {
  const held = await leases.tryAcquire(indexLease(name));
  if (!held) return false;
  // Unlike other writers, whatever the version of the index: nothing new is written.
  const write: WriteTransaction = (work) =>
    database.transaction(async (sql) => {
      await checkFence(sql, held);
      await sql.query("select from search_about for update");
      return work(sql);
    });
  try {
    await write(async (sql) => {
      await sql.query("delete from search_notes where name = any($1::text[])", [
        [keyNote(name), totalNote(name), stateNote(name)],
      ]);
      const [mount] = await sql.query<{ id: number }>("select id from search_mounts where name = $1", [name]);
      if (mount) await retireMount(sql, mount.id);
    });
    await sweepRemoved(database, write);
  } finally {
    await held.release();
  }
  return true;
}
