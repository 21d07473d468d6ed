/** Records and logs in the shared database. */
import type { Runtime } from "../runtime.ts";
import { checkKey, checkName } from "./check-key.ts";
import type { SharedDatabase, SqlParameter } from "./database.ts";
import type { KeptEntries, PutOptions, RecordValue, Store, StoredRecord } from "./store.ts";

export interface PostgresStoreOptions {
  readonly database: SharedDatabase;
  readonly runtime: Pick<Runtime, "wait" | "log">;
}

interface RecordRow {
  readonly key: string;
  readonly value: RecordValue;
  readonly version: number;
}

/** The newest entries of a log before a number. */
interface CountedPage {
  /** The newest that is beyond the limits. */
  readonly beyond: number | null;
  readonly first: number | null;
  readonly entries: number;
  readonly bytes: number;
}

const pageSize = 500;
/** Entries of a log that one statement counts. */
const countedAtOnce = 50_000;
/** How often expired rows are removed, and how many in one statement. Until then they are ignored. */
const purgeMs = 60_000;
const purgedAtOnce = 10_000;
/** A record with a longer time to live does not expire. */
const foreverMs = 100 * 365 * 86_400_000;

const isCurrent = "(records.expires is null or records.expires > clock_timestamp())";
/**
 * A new version of a record. Random, because a counter goes back when an older dump is restored: then a version that instances remember would be
 * given to another value.
 */
export const newVersion = "floor(random() * 9007199254740991)::bigint";

const stored = `$3::json, ${newVersion}, clock_timestamp() + $4::double precision * interval '1 ms'`;

/** Adds to a change that followers are notified, in the same transaction. `$5` is the channel. */
const withNotify = (change: string): string =>
  `with changed as (${change} returning version) select version, pg_notify($5, $1) from changed`;
const insert = `insert into records (kind, key, value, version, expires) values ($1, $2, ${stored})
  on conflict (kind, key) do update set value = excluded.value, version = excluded.version, expires = excluded.expires`;
const putSql = withNotify(insert);
const createSql = withNotify(`${insert} where not ${isCurrent}`);
const replaceSql = withNotify(`update records set (value, version, expires) = (${stored})
  where kind = $1 and key = $2 and version::text = $6 and ${isCurrent}`);

const countSql = `
  select max(number) filter (where entries > $3 or bytes > $4) as beyond, min(number) as first,
    count(*) as entries, coalesce(max(bytes), 0)::double precision as bytes
  from (select number, row_number() over newer as entries, sum(size) over newer as bytes
    from (select number, octet_length(value::text) as size from logs where log = $1 and number < $2 order by number desc limit ${countedAtOnce}) as page
    window newer as (order by number desc rows unbounded preceding)) as counted`;

/** The channel on which changed kinds are announced. Channels belong to the whole database, so the name contains the schema. */
export function recordsChannel(schema: string): string {
  return `${schema}.records`;
}

export function createPostgresStore({ database, runtime }: PostgresStoreOptions): Store {
  const channel = recordsChannel(database.schema);
  const closing = new AbortController();
  const followers = new Set<{ readonly kind: string; changed(): void }>();
  let listening: Promise<void> | undefined;
  void purge();

  /** Resolves once notifications are received. */
  function listen(): Promise<void> {
    listening ??= new Promise((armed) => {
      let isFirst = true;
      database.listen(
        channel,
        {
          notified(payload) {
            for (const { kind, changed } of followers) if (kind === payload) changed();
          },
          connected() {
            // Changes may have been missed.
            if (!isFirst) for (const { changed } of followers) changed();
            isFirst = false;
            armed();
          },
          lost: () => undefined,
        },
        closing.signal,
      );
      closing.signal.addEventListener("abort", () => armed());
    });
    return listening;
  }

  async function purge(): Promise<void> {
    while (!closing.signal.aborted) {
      await runtime.wait(purgeMs, closing.signal).catch(() => undefined);
      if (closing.signal.aborted) return;
      await purgeAll().catch((cause: unknown) =>
        runtime.log("warn", "expired records cannot be removed at present", { cause }),
      );
    }
  }

  /** Several statements, because the time of one is limited, and clients may have created any number of records. */
  async function purgeAll(): Promise<void> {
    while (!closing.signal.aborted) {
      const [row] = await database.query<{ removed: number }>(
        `with gone as (
           delete from records where ctid = any(array(select ctid from records where expires <= clock_timestamp() limit ${purgedAtOnce}))
             and expires <= clock_timestamp() returning 1)
         select count(*) as removed from gone`,
      );
      if ((row?.removed ?? 0) < purgedAtOnce) return;
    }
  }

  /** The number of the newest entry that is not kept. Counts from the newest, a limited number in one statement, because its time is limited. */
  async function lastBeyond(
    log: string,
    { entries: maxEntries, bytes: maxBytes }: KeptEntries,
  ): Promise<number | undefined> {
    let [entries, bytes] = [0, 0];
    for (let before = Number.MAX_SAFE_INTEGER; !closing.signal.aborted;) {
      const [page]: readonly CountedPage[] = await database.query<CountedPage>(countSql, [
        log,
        before,
        maxEntries - entries,
        maxBytes - bytes,
      ]);
      if (!page || page.first === null) return undefined;
      if (page.beyond !== null) return page.beyond;
      if (page.entries < countedAtOnce) return undefined;
      entries += page.entries;
      bytes += page.bytes;
      before = page.first;
    }
    return undefined;
  }

  return {
    async get(kind, key) {
      check(kind, key);
      const [row] = await database.query<RecordRow>(
        `select key, value, version from records where kind = $1 and key = $2 and ${isCurrent}`,
        [kind, key],
      );
      return row && toRecord(row);
    },

    async list(kind) {
      checkName(kind);
      const rows = await database.query<RecordRow>(
        `select key, value, version from records where kind = $1 and ${isCurrent} order by key`,
        [kind],
      );
      return rows.map(toRecord);
    },

    async put(kind, key, value, options: PutOptions = {}) {
      check(kind, key);
      const { expiresInMs = Infinity, ifVersion } = options;
      const text = JSON.stringify(value);
      const values: SqlParameter[] = [kind, key, text, expiresInMs < foreverMs ? expiresInMs : null, channel];
      if (ifVersion !== undefined) values.push(ifVersion);
      const sql = ifVersion !== undefined ? replaceSql : isNewOnly(options) ? createSql : putSql;
      const rows = await database.query<{ version: number }>(sql, values);
      const version = rows[0]?.version;
      return version === undefined ? undefined : { key, value: JSON.parse(text), version: String(version) };
    },

    async remove(kind, key) {
      check(kind, key);
      const rows = await database.query<{ current: boolean }>(
        `with changed as (delete from records where kind = $1 and key = $2 returning ${isCurrent} as current)
         select current, pg_notify($3, $1) from changed`,
        [kind, key, channel],
      );
      return rows[0]?.current === true;
    },

    async append(log, entries) {
      checkName(log);
      if (entries.length === 0) return;
      await database.query(
        `insert into logs (log, value)
         select $1, entry::json from unnest($2::text[]) with ordinality as given (entry, place) order by place`,
        [log, entries.map((entry) => JSON.stringify(entry))],
      );
    },

    async *read(log) {
      checkName(log);
      for (let last = 0; ;) {
        const rows = await database.query<{ number: number; value: RecordValue }>(
          `select number, value from logs where log = $1 and number > $2 order by number limit ${pageSize}`,
          [log, last],
        );
        yield* rows.map(({ value }) => value);
        if (rows.length < pageSize) return;
        last = rows.at(-1)?.number ?? last;
      }
    },

    async trim(log, keep, signal) {
      checkName(log);
      const last = await lastBeyond(log, keep);
      if (last === undefined) return;
      // Several statements, because the time of one is limited.
      for (let removed = purgedAtOnce; removed === purgedAtOnce && !closing.signal.aborted;) {
        const [row] = await database.query<{ removed: number }>(
          `with gone as (
             delete from logs where log = $1 and number = any(array(
               select number from logs where log = $1 and number <= $2 order by number limit ${purgedAtOnce})) returning 1)
           select count(*) as removed from gone`,
          [log, last],
        );
        removed = row?.removed ?? 0;
        if (signal?.aborted) return;
      }
    },

    async follow(kind, changed, signal) {
      checkName(kind);
      if (signal.aborted) return;
      const follower = { kind, changed };
      const leave = Promise.withResolvers<void>();
      followers.add(follower);
      signal.addEventListener(
        "abort",
        () => {
          followers.delete(follower);
          leave.resolve();
        },
        { once: true },
      );
      await Promise.race([listen(), leave.promise]);
    },

    async close() {
      closing.abort();
      followers.clear();
    },
  };
}

function check(kind: string, key: string): void {
  checkName(kind);
  checkKey(key);
}

function isNewOnly(options: PutOptions): boolean {
  return "ifVersion" in options && options.ifVersion === undefined;
}

function toRecord({ key, value, version }: RecordRow): StoredRecord {
  return { key, value, version: String(version) };
}
