/** The SQLite file that stores results: created if missing, written atomically by many processes. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { createStatements, inTransaction } from "../../backends/sql/sqlite-statements.ts";
import { lastingFailure, ResourceError, shuttingDown, unavailable } from "../../errors.ts";
import { fileIdentity } from "../../lib/file-identity.ts";
import type { Runtime } from "../../source.ts";
import type { Database, SqlRow, Statement, Work } from "./sql.ts";

/** Changes whenever the file format changes. */
const format = 2;

const tables = `
  create table results (
    number integer primary key, id text not null unique, key blob not null unique, task text not null, title text not null,
    stored integer not null, expires integer not null, dies integer not null, passed integer not null, confidence real not null,
    consensus real not null, providers integer not null, cost real not null, time real not null, bytes integer not null,
    place integer not null
  ) strict;
  create index results_by_time on results (stored desc, id);
  create index results_by_task on results (task, stored desc, id);
  create index results_by_expiry on results (expires);
  create index results_by_death on results (dies);
  create table bodies (place integer primary key, key blob not null, body text not null) strict;
  create table grounds (
    digest blob not null, number integer not null, uri text not null, version text not null, stamped integer not null,
    caller text not null, primary key (digest, number)
  ) strict, without rowid;
  create index grounds_by_result on grounds (number);
  create table events (
    seq integer primary key, number integer not null, at integer not null, what text not null, detail text
  ) strict;
  create index events_by_result on events (number);
  create table leases (
    key blob primary key, token text not null unique, until integer not null, question text not null,
    bytes integer not null, failed integer, reason text
  ) strict;
  create index leases_by_end on leases (until, bytes);
  create table tallies (task text, name text, value real not null, primary key (task, name)) strict, without rowid;
  create table changes (seq integer primary key autoincrement, kind text not null, id text not null) strict;
`;

/** A write blocks this long for its lock, then other work of this process runs. */
const busyMs = 20;
const patienceMs = 10_000;

export function createFile(
  path: string,
  { now, monotonicMs, wait }: Pick<Runtime, "now" | "monotonicMs" | "wait">,
): Database {
  const closing = new AbortController();
  let open: { readonly database: DatabaseSync; readonly ask: Ask; readonly identity: string | undefined } | undefined;

  let generation = 0;

  /** Whether the path still leads to the open file: writes to a removed file would be lost. */
  const isThere = ({ identity }: NonNullable<typeof open>) => fileIdentity(path) === identity;

  function close(): void {
    const closed = open;
    open = undefined;
    closed?.database.close();
  }

  async function withFile<T>(work: (file: NonNullable<typeof open>) => T): Promise<T> {
    const untilMs = monotonicMs() + patienceMs;
    for (;;) {
      if (closing.signal.aborted) throw shuttingDown();
      try {
        if (open && !isThere(open)) {
          close();
          generation += 1;
        }
        if (!open) {
          const database = openFile(path);
          const statement = createStatements(database);
          const ask: Ask = ({ text, values }) => statement(text).all(...(values as SQLInputValue[]));
          open = { database, ask, identity: fileIdentity(path) };
        }
        return work(open);
      } catch (cause) {
        if (!isBusy(cause) || monotonicMs() >= untilMs) throw toStoreError(cause);
      }
      // A random delay, so that waiting processes do not all retry at the same moment.
      await wait(5 + Math.random() * 20, closing.signal).catch(() => undefined);
    }
  }

  return {
    now,
    // The processes of one machine share the file and this clock, which restarts with the machine.
    leaseClockMs: () => Math.floor(monotonicMs()),
    agree: async () => undefined,
    get generation() {
      return generation;
    },
    read: (work) =>
      withFile(({ database, ask: request }) => inTransaction(database, "begin", () => perform(work(), request))),
    write: (work, { isLasting } = {}) =>
      withFile((file) => {
        const { database, ask: request } = file;
        if (isLasting) database.exec("pragma synchronous = full");
        try {
          const answer = inTransaction(database, "begin immediate", () => perform(work(), request));
          if (isLasting && !isThere(file)) throw unavailable("the results file was removed or replaced; try again");
          return answer;
        } finally {
          if (isLasting) database.exec("pragma synchronous = normal");
        }
      }),
    async close() {
      closing.abort();
      close();
    },
  };
}

type Ask = (statement: Statement) => readonly SqlRow[];

function perform<T>(work: Work<T>, request: Ask): T {
  let step = work.next();
  while (!step.done) step = work.next(request(step.value));
  return step.value;
}

function openFile(path: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const { closeSync, mkdirSync, openSync } = process.getBuiltinModule("node:fs");
  const { dirname } = process.getBuiltinModule("node:path");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Only the owner may read it and the files that SQLite creates beside it.
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    database.exec(
      "pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = normal; pragma trusted_schema = off; pragma journal_size_limit = 67108864; pragma mmap_size = 2147418112; pragma cache_size = -16384",
    );
    const formatOf = () => database.prepare("pragma user_version").get()?.["user_version"];
    if (formatOf() === 0)
      inTransaction(database, "begin immediate", () => {
        // Another process may have created them in the meantime.
        if (formatOf() === 0) database.exec(`${tables} pragma user_version = ${format}`);
      });
    if (formatOf() !== format)
      throw lastingFailure('the file was created by another version, or is not a results file; choose another "path"');
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

const codeOf = (cause: unknown): number => Number((cause as { readonly errcode?: unknown }).errcode) & 0xff;

function isBusy(cause: unknown): boolean {
  return codeOf(cause) === 5 || codeOf(cause) === 6;
}

function toStoreError(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const lasting = (says: string) => lastingFailure(says, cause);
  switch (codeOf(cause)) {
    case 5:
    case 6:
      return unavailable("the results file is locked by other writers; try again", cause);
    case 11:
      return lasting("the results file is damaged; move it away, and a new one will be created");
    case 13:
      return lasting("the disk is full, so nothing can be stored");
    case 26:
      return lasting('the file is not a results database; choose another "path"');
    case 8:
    case 14:
      return lasting("the results file cannot be opened for writing; check its permissions");
    case 10:
      return unavailable("the results file cannot be read at present; try again", cause);
    default:
      if (/^E[A-Z]+$/.test(String((cause as { readonly code?: unknown }).code)))
        return lasting("the results file cannot be opened; check its folder and permissions");
      return new ResourceError("unexpected", "the results file cannot be used; see the log", { cause });
  }
}
