/** All records and logs of the shared state, except caches, as lines of JSON: a header, one line for each, and an end with a checksum. */
import { createHash } from "node:crypto";
import { invalid, lastingFailure, quote, unsupported } from "../errors.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";
import { newVersion, recordsChannel } from "./postgres-store.ts";
import { cachePrefix } from "./shared-cache.ts";
import type { RecordValue } from "./store.ts";

const format = "pressmark-backup";
/** Increases when programs of the current version could no longer read the lines. */
const formatVersion = 1;
const pageSize = 500;

export interface BackupCounts {
  readonly records: number;
  readonly entries: number;
}

interface BackupRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: unknown;
  /** ISO 8601. */
  readonly expires?: string;
}

interface BackupEntry {
  readonly log: string;
  readonly value: unknown;
  readonly at: string;
}

/** One consistent state. The database should have a long time limit: a slow reader of the lines delays the transaction. */
export async function writeBackup(
  database: SharedDatabase,
  write: (line: string) => Promise<void>,
  facts: { readonly pressmark: string; readonly made: string },
): Promise<BackupCounts> {
  const hash = createHash("sha256");
  async function add(value: object): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    await write(line);
  }
  return database.snapshot(async (sql) => {
    let [records, entries] = [0, 0];
    await add({ format, version: formatVersion, ...facts });
    for await (const record of recordsIn(sql)) {
      await add({ record });
      records += 1;
    }
    for await (const entry of entriesIn(sql)) {
      await add({ entry });
      entries += 1;
    }
    await write(`${JSON.stringify({ end: { records, entries, sha256: hash.digest("hex") } })}\n`);
    return { records, entries };
  });
}

async function* recordsIn(sql: SharedSql): AsyncGenerator<BackupRecord> {
  for (let [kind, key] = ["", ""]; ;) {
    const rows = await sql.query<{ kind: string; key: string; value: unknown; expires: Date | null }>(
      `select kind, key, value, expires from records
       where (kind, key) > ($1, $2) and (expires is null or expires > clock_timestamp()) and not starts_with(kind, $3)
       order by kind, key limit ${pageSize}`,
      [kind, key, cachePrefix],
    );
    for (const { expires, ...row } of rows) yield { ...row, ...(expires && { expires: expires.toISOString() }) };
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    ({ kind, key } = last);
  }
}

async function* entriesIn(sql: SharedSql): AsyncGenerator<BackupEntry> {
  for (let [log, number] = ["", 0]; ;) {
    const rows = await sql.query<{ log: string; number: number; value: unknown; at: Date }>(
      `select log, number, value, at from logs where (log, number) > ($1, $2) order by log, number limit ${pageSize}`,
      [log, number],
    );
    for (const row of rows) yield { log: row.log, value: row.value, at: row.at.toISOString() };
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    ({ log, number } = last);
  }
}

/** Combines a record that is in the database with the one of the backup, if that has it. */
export interface RecordMerge {
  readonly kind: string;
  readonly key: string;
  merge(present: RecordValue, restored: RecordValue | undefined): RecordValue;
}

export interface RestoreOptions {
  readonly replace?: boolean;
  /** Kinds whose existing records are not replaced: running instances do not read these kinds again. */
  readonly keep?: readonly string[];
  /** Records of which running instances do not read a part again. */
  readonly merges?: readonly RecordMerge[];
}

/**
 * All or nothing: nothing is changed if a line is missing, damaged or unknown. The tables must exist. Without `replace`, records and logs
 * must be empty. Instances can write until all lines are read and checked.
 */
export async function restoreBackup(
  database: SharedDatabase,
  lines: AsyncIterable<string>,
  { replace = false, keep = [], merges = [] }: RestoreOptions = {},
): Promise<BackupCounts> {
  return database.transaction(async (sql) => {
    if (!replace) await checkEmpty(sql, database.schema);
    // Seen by this transaction alone, and removed at its end.
    await sql.query("create unlogged table restored_records (kind text, key text, value json, expires timestamptz)");
    await sql.query("create unlogged table restored_logs (place bigserial, log text, value json, at timestamptz)");
    const counts = await readAll(sql, lines);
    await sql.query("lock table records, logs in exclusive mode");
    const notifyAll = () =>
      sql.query("select pg_notify($1, kind) from (select distinct kind from records) as kinds", [
        recordsChannel(database.schema),
      ]);
    // Before and after: running instances read every kind again, also one of which nothing is left.
    await notifyAll();
    const present = await Promise.all(merges.map(({ kind, key }) => valueOf(sql, kind, key)));
    if (replace) {
      await sql.query("delete from records where kind <> all($1::text[])", [keep]);
      await sql.query("delete from logs");
    } else await checkEmpty(sql, database.schema);
    await sql.query(
      `insert into records (kind, key, value, version, expires)
       select kind, key, value, ${newVersion}, expires from restored_records on conflict do nothing`,
    );
    await sql.query("insert into logs (log, value, at) select log, value, at from restored_logs order by place");
    for (const [index, value] of present.entries()) if (value) await mergeRecord(sql, merges[index]!, value);
    await notifyAll();
    await sql.query("drop table restored_records, restored_logs");
    return counts;
  });
}

async function valueOf(sql: SharedSql, kind: string, key: string): Promise<RecordValue | undefined> {
  const [row] = await sql.query<{ value: RecordValue }>(
    "select value from records where kind = $1 and key = $2 and (expires is null or expires > clock_timestamp())",
    [kind, key],
  );
  return row?.value;
}

async function mergeRecord(sql: SharedSql, { kind, key, merge }: RecordMerge, present: RecordValue): Promise<void> {
  const value = merge(present, await valueOf(sql, kind, key));
  await sql.query(
    `insert into records (kind, key, value, version) values ($1, $2, $3::json, ${newVersion})
     on conflict (kind, key) do update set value = excluded.value`,
    [kind, key, JSON.stringify(value)],
  );
}

async function checkEmpty(sql: SharedSql, schema: string): Promise<void> {
  const [row] = await sql.query<{ records: number; entries: number }>(
    "select (select count(*) from records) as records, (select count(*) from logs) as entries",
  );
  if (row && row.records + row.entries > 0)
    throw lastingFailure(
      `the schema ${quote(schema)} already contains ${row.records} records and ${row.entries} log entries; add --replace to remove them first`,
    );
}

/** Into the tables of this transaction. */
async function readAll(sql: SharedSql, lines: AsyncIterable<string>): Promise<BackupCounts> {
  const hash = createHash("sha256");
  const [records, entries]: [BackupRecord[], BackupEntry[]] = [[], []];
  const counts = { records: 0, entries: 0 };
  let number = 0;
  let isEnded = false;

  async function flush(): Promise<void> {
    if (records.length > 0) await insertRecords(sql, records.splice(0));
    if (entries.length > 0) await insertEntries(sql, entries.splice(0));
  }

  for await (const line of lines) {
    number += 1;
    const value = parseLine(line, number);
    if (isEnded) throw damaged(`line ${number} follows its end`);
    if (number === 1) checkHeader(value);
    else if (isRecord(value["record"])) {
      records.push(value["record"]);
      counts.records += 1;
    } else if (isEntry(value["entry"])) {
      entries.push(value["entry"]);
      counts.entries += 1;
    } else if (value["end"] !== undefined) {
      const expected = { ...counts, sha256: hash.digest("hex") };
      if (JSON.stringify(value["end"]) !== JSON.stringify(expected)) throw damaged("its checksum does not match");
      isEnded = true;
      continue;
    } else throw damaged(`line ${number} is unknown`);
    hash.update(`${line}\n`);
    if (records.length + entries.length >= pageSize) await flush();
  }
  if (!isEnded) throw damaged("its end is missing");
  await flush();
  return counts;
}

async function insertRecords(sql: SharedSql, records: readonly BackupRecord[]): Promise<void> {
  await sql.query(
    `insert into restored_records (kind, key, value, expires)
     select kind, key, value::json, nullif(expires, '')::timestamptz
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as given (kind, key, value, expires)`,
    [
      records.map(({ kind }) => kind),
      records.map(({ key }) => key),
      records.map(({ value }) => JSON.stringify(value)),
      records.map(({ expires }) => expires ?? ""),
    ],
  );
}

async function insertEntries(sql: SharedSql, entries: readonly BackupEntry[]): Promise<void> {
  await sql.query(
    `insert into restored_logs (log, value, at)
     select log, value::json, at::timestamptz
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (log, value, at, place) order by place`,
    [entries.map(({ log }) => log), entries.map(({ value }) => JSON.stringify(value)), entries.map(({ at }) => at)],
  );
}

function damaged(why: string): Error {
  return invalid(`the backup is damaged or incomplete: ${why}; nothing was changed`);
}

function parseLine(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Reported below.
  }
  throw number === 1 ? invalid("this is not a backup of Pressmark") : damaged(`line ${number} is not JSON`);
}

/** Throws if this first line is not that of a backup which this version can read. */
export function checkFirstLine(line: string): void {
  // The first bytes of gzip, read as UTF-8.
  if (line.startsWith("\u001f\ufffd"))
    throw invalid("the backup is compressed; restore it with: gunzip -c FILE | pressmark restore -");
  checkHeader(parseLine(line, 1));
}

function checkHeader({ format: named, version }: Readonly<Record<string, unknown>>): void {
  if (named !== format) throw invalid("this is not a backup of Pressmark");
  if (version !== formatVersion)
    throw unsupported("the backup was made by a newer version of Pressmark; update Pressmark, then restore it");
}

function isRecord(value: unknown): value is BackupRecord {
  const { kind, key, value: content, expires = "" } = (value ?? {}) as Partial<Record<keyof BackupRecord, unknown>>;
  return [kind, key, expires].every((each) => typeof each === "string") && typeof content === "object";
}

function isEntry(value: unknown): value is BackupEntry {
  const { log, value: content, at } = (value ?? {}) as Partial<Record<keyof BackupEntry, unknown>>;
  return typeof log === "string" && typeof at === "string" && typeof content === "object";
}
