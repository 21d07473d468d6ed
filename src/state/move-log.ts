/** Moves the entries of a log from elsewhere into the shared state, each once, however often it is repeated. */
import type { SharedDatabase } from "./database.ts";
import { newVersion } from "./postgres-store.ts";
import type { RecordValue } from "./store.ts";

/** Records of this kind say how far a log was moved. */
const movedKind = "moved-logs";
const batchSize = 500;

/** Where moving continues: after this many entries of this time. */
interface MoveProgress {
  readonly time: string;
  readonly count: number;
}

/**
 * The entries have a `time` (ISO 8601) that does not go back. `origin` names where they come from. Returns how many were moved now. Moved
 * entries and the progress are stored together, so nothing is moved twice after a crash.
 */
export async function moveLog(
  database: SharedDatabase,
  log: string,
  origin: string,
  entries: AsyncIterable<RecordValue & { readonly time: string }>,
): Promise<number> {
  let progress = await progressOf(database, log, origin);
  const before = progress;
  let sameTime = 0;
  let moved = 0;
  let batch: (RecordValue & { readonly time: string })[] = [];

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const texts = batch.map((entry) => JSON.stringify(entry));
    // Apart from the texts: PostgreSQL reads no member of a JSON text that has U+0000 anywhere.
    const times = batch.map(({ time }) => time);
    await database.transaction(async (sql) => {
      await sql.query(
        `insert into logs (log, value, at)
         select $1, entry::json, time::timestamptz
         from unnest($2::text[], $3::text[]) with ordinality as given (entry, time, place) order by place`,
        [log, texts, times],
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

  for await (const entry of entries) {
    const { time } = entry;
    if (before && time < before.time) continue;
    if (before && time === before.time && (sameTime += 1) <= before.count) continue;
    progress = progress?.time === time ? { time, count: progress.count + 1 } : { time, count: 1 };
    batch.push(entry);
    if (batch.length >= batchSize) await flush();
  }
  await flush();
  return moved;
}

async function progressOf(database: SharedDatabase, log: string, origin: string): Promise<MoveProgress | undefined> {
  const [row] = await database.query<{ value: MoveProgress }>(
    "select value from records where kind = $1 and key = $2",
    [movedKind, `${log} ${origin}`],
  );
  return row?.value;
}
