/** Moves the entries of a log from elsewhere into the shared state, each once, however often it is repeated. */
import { createHash } from "node:crypto";
import type { SharedDatabase } from "./database.ts";
import { newVersion } from "./postgres-store.ts";
import type { RecordValue } from "./store.ts";

/** Records of this kind say how far a log was moved. */
const movedKind = "moved-logs";
const batchSize = 500;
const digestsAtOnce = 10_000;

type LogEntry = RecordValue & { readonly time: string };

/** The last entry that was moved. The log may have removed it since, and so may the shared state. */
interface MoveProgress {
  readonly time: string;
  /** How many entries of this time were before it, and itself. */
  readonly count: number;
  /** Former versions stored none: then only entries of the same origin are compared. */
  readonly digest?: string;
}

/**
 * The entries have a `time` (ISO 8601), which goes back if a clock was set back. `entries` reads them, oldest first. `origin` names where they come
 * from; the same log may have another origin on each run, such as the name of a container, and the log of a copied folder the same: so the entries
 * are compared with those that are there. Returns how many were moved now. Moved entries and the progress are stored together, so nothing is moved
 * twice after a crash.
 */
export async function moveLog(
  database: SharedDatabase,
  log: string,
  origin: string,
  entries: () => AsyncIterable<LogEntry>,
): Promise<number> {
  const { present, first } = await countPresent(database, log, origin, entries);
  const countTime = createTimeCounts();
  let progress: MoveProgress | undefined;
  let read = 0;
  let moved = 0;
  let batch: LogEntry[] = [];

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
        [movedKind, keyOf(log, origin), JSON.stringify(progress)],
      );
    });
    moved += batch.length;
    batch = [];
  }

  for await (const entry of entries()) {
    const { time } = entry;
    const count = countTime(time);
    read += 1;
    // A server that runs has removed the oldest ones meanwhile.
    if (read === 1 && digestOf(entry) !== first) return moveLog(database, log, origin, entries);
    if (read <= present) continue;
    progress = { time, count, digest: digestOf(entry) };
    batch.push(entry);
    if (batch.length >= batchSize) await flush();
  }
  await flush();
  return moved;
}

/** How many of the entries, from the first on, were moved before; and the digest of the first. */
async function countPresent(
  database: SharedDatabase,
  log: string,
  origin: string,
  entries: () => AsyncIterable<LogEntry>,
): Promise<{ readonly present: number; readonly first: string | undefined }> {
  const marks = await progressOf(database, log);
  const isMarked = (entry: LogEntry, count: number, digest: string): boolean =>
    marks.some(
      ({ key, value }) =>
        value.time === entry.time &&
        value.count === count &&
        (value.digest === undefined ? key === keyOf(log, origin) : value.digest === digest),
    );
  const countTime = createTimeCounts();
  let stored: Map<string, number> | undefined;
  let first: string | undefined;
  let read = 0;
  let present = 0;
  let wasStored = true;
  for await (const entry of entries()) {
    const digest = digestOf(entry);
    first ??= digest;
    stored ??= await countDigests(database, log);
    const left = stored.get(digest) ?? 0;
    const isStored = left > 0;
    if (isStored) stored.set(digest, left - 1);
    read += 1;
    const wasMoved = isMarked(entry, countTime(entry.time), digest);
    // Two after another: a single one may be an equal entry of another machine. Those before them were moved, too, and removed since.
    if (wasMoved || (isStored && wasStored)) present = read;
    wasStored = isStored;
  }
  return { present, first };
}

/** How often each entry is in the shared state. */
async function countDigests(database: SharedDatabase, log: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let last = 0;
  for (;;) {
    const rows = await database.query<{ number: number; digest: string }>(
      // Limited first: without statistics of the table the database would make a digest of every entry for each page.
      `select number, encode(sha256(convert_to(value::text, 'UTF8')), 'base64') as digest
       from (select number, value from logs where log = $1 and number > $2 order by number limit ${digestsAtOnce}) as page
       order by number`,
      [log, last],
    );
    for (const { number, digest } of rows) {
      counts.set(digest, (counts.get(digest) ?? 0) + 1);
      last = number;
    }
    if (rows.length < digestsAtOnce) return counts;
  }
}

function digestOf(entry: LogEntry): string {
  return createHash("sha256").update(JSON.stringify(entry)).digest("base64");
}

/** Returns how many entries of this time there were, with this one. */
function createTimeCounts(): (time: string) => number {
  const counts = new Map<string, number>();
  return (time) => {
    const count = (counts.get(time) ?? 0) + 1;
    counts.set(time, count);
    return count;
  };
}

function keyOf(log: string, origin: string): string {
  return `${log} ${origin}`;
}

/** From wherever the log was moved. */
async function progressOf(
  database: SharedDatabase,
  log: string,
): Promise<readonly { readonly key: string; readonly value: MoveProgress }[]> {
  return database.query<{ key: string; value: MoveProgress }>(
    "select key, value from records where kind = $1 and starts_with(key, $2)",
    [movedKind, keyOf(log, "")],
  );
}
