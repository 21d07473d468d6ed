/** Moves a record from elsewhere into the shared state, once, however often it is repeated. */
import { checkKey, checkName } from "./check-key.ts";
import type { SharedDatabase } from "./database.ts";
import { newVersion, recordsChannel } from "./postgres-store.ts";
import type { StoredRecord } from "./store.ts";

/** Records of this kind say which ones were moved: one that was removed since must not come back. */
const movedKind = "moved-records";

/**
 * Returns whether it was copied now: not if it was moved before, and not if there is a record of the same key. The copy and the mark are one
 * statement, so none is stored without the other.
 */
export async function moveRecord(
  database: SharedDatabase,
  kind: string,
  { key, value }: Pick<StoredRecord, "key" | "value">,
): Promise<boolean> {
  const mark = `${kind} ${key}`;
  checkName(kind);
  checkKey(mark);
  const rows = await database.query(
    `with marked as (
       insert into records (kind, key, value, version) values ($4, $5, '{}', ${newVersion}) on conflict do nothing returning 1),
     copied as (
       insert into records (kind, key, value, version) select $1, $2, $3::json, ${newVersion} from marked on conflict do nothing returning 1)
     select pg_notify($6, $1) from copied`,
    [kind, key, JSON.stringify(value), movedKind, mark, recordsChannel(database.schema)],
  );
  return rows.length > 0;
}
