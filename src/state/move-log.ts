/** Moves the entries of a log from elsewhere into the shared state, each once, however often it is repeated. */
import type { SharedDatabase } from "./database.ts";
import { newVersion } from "./postgres-store.ts";
import type { RecordValue } from "./store.ts";

/** Records of this kind say how far a log was moved. */
const movedKind = "moved-logs";
const batchSize = 500;

/** Where moving continues: after this many entries of this time, in the order of the log. */
interface MoveProgress {
  readonly time: string;
  readonly count: number;
}

/**
 * The entries have a `time` (ISO 8601), which goes back if a clock was set back. `entries` reads them, oldest first; `origin` names where they come
 * from. Returns how many were moved now. Moved entries and the progress are stored together, so nothing is moved twice after a crash.
 */
export async function moveLog(
  database: SharedDatabase,
  log: string,
  origin: string,
  entries: () => AsyncIterable<RecordValue & { readonly time: string }>,
): Promise<number> {
  const before = await progressOf(database, log, origin);
  // The oldest entries may have been removed since, and with them the last that was moved.
  const isPresent = before !== undefined && (await hasEntry(entries(), before));
  const times = new Map<string, number>();
  let progress = before;
  let isMoved = isPresent;
  let moved = 0;
  let batch: (RecordValue & { readonly time: string })[] = [];

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const texts = batch.map((entry) => JSON.stringify(entry));
    // Apart from the texts: PostgreSQL reads no member of a JSON text that has U+0000 anywhere.
    const ofBatch = batch.map(({ time }) => time);
    await database.transaction(async (sql) => {
      await sql.query(
        `insert into logs (log, value, at)
         select $1, entry::json, time::timestamptz
         from unnest($2::text[], $3::text[]) with ordinality as given (entry, time, place) order by place`,
        [log, texts, ofBatch],
      );
      await sql.query(
        `insert into records (kind, key, value, version) values ($1, $2, $3::json, ${newVersion})
         on conflict (kind, key) do update set value = excluded.value, version = excluded.version`,
        [movedKind, `${log} ${origin}`, JSON.stringify(progress)],
      );
    });
    moved += batch.length;
    batch = [];
  }

  for await (const entry of entries()) {
    const { time } = entry;
    const count = (times.get(time) ?? 0) + 1;
    times.set(time, count);
    if (isMoved) {
      isMoved = time !== before?.time || count < before.count;
      continue;
    }
    if (before && !isPresent && time <= before.time) continue;
    progress = { time, count };
    batch.push(entry);
    if (batch.length >= batchSize) await flush();
  }
  await flush();
  return moved;
}

async function hasEntry(
  entries: AsyncIterable<{ readonly time: string }>,
  { time, count }: MoveProgress,
): Promise<boolean> {
  let found = 0;
  for await (const entry of entries) if (entry.time === time && (found += 1) === count) return true;
  return false;
}

async function progressOf(database: SharedDatabase, log: string, origin: string): Promise<MoveProgress | undefined> {
  const [row] = await database.query<{ value: MoveProgress }>(
    "select value from records where kind = $1 and key = $2",
    [movedKind, `${log} ${origin}`],
  );
  return row?.value;
}
