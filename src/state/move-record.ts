/** Moves a record from elsewhere into the shared state, once, however often it is repeated. */
import { checkKey, checkName } from "./check-key.ts";
import type { SharedDatabase } from "./database.ts";
import { newVersion, recordsChannel } from "./postgres-store.ts";
import type { RecordValue, StoredRecord } from "./store.ts";

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
  const mark = markOf(kind, key);
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

/**
 * Adds to a record that an instance may have created before the move. `merge` returns the new value, or undefined if it has all; it may be called
 * several times, and is not called if the record was moved before. Returns the record as it is afterwards, and whether it was changed.
 */
export async function mergeRecord(
  database: SharedDatabase,
  kind: string,
  key: string,
  merge: (present: RecordValue | undefined) => RecordValue | undefined,
): Promise<{ readonly value: RecordValue | undefined; readonly isChanged: boolean }> {
  const mark = markOf(kind, key);
  return database.transaction(async (sql) => {
    const marked = await sql.query(
      `insert into records (kind, key, value, version) values ($1, $2, '{}', ${newVersion}) on conflict do nothing returning 1`,
      [movedKind, mark],
    );
    for (;;) {
      // Locked: what an instance changes at the same time is there before, or fails by its version and is repeated.
      const [row] = await sql.query<{ value: RecordValue }>(
        "select value from records where kind = $1 and key = $2 for update",
        [kind, key],
      );
      const merged = marked.length > 0 ? merge(row?.value) : undefined;
      if (!merged) return { value: row?.value, isChanged: false };
      const change = row
        ? `update records set value = $3::json, version = ${newVersion} where kind = $1 and key = $2 returning 1`
        : `insert into records (kind, key, value, version) values ($1, $2, $3::json, ${newVersion}) on conflict do nothing returning 1`;
      const rows = await sql.query(`with changed as (${change}) select pg_notify($4, $1) from changed`, [
        kind,
        key,
        JSON.stringify(merged),
        recordsChannel(database.schema),
      ]);
      if (rows.length > 0) return { value: merged, isChanged: true };
      // An instance has created it meanwhile.
    }
  });
}

function markOf(kind: string, key: string): string {
  const mark = `${kind} ${key}`;
  checkName(kind);
  checkKey(mark);
  return mark;
}
