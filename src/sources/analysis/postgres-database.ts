/** The PostgreSQL database that stores results: its own schema, created if missing, written to by many machines. */
import { createHash } from "node:crypto";
import type pg from "pg";
import { createBackoff } from "../../lib/backoff.ts";
import { lastingFailure, quote, ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import { type ConnectionOptions, createPool } from "../../backends/postgres/pool.ts";
import type { Database, SqlRow, Statement, SqlValue, Work, Writing } from "./sql.ts";

/** Changes whenever the stored format changes. */
const format = 1;

const tables = `
  create table results (
    number bigint generated always as identity primary key, id text collate "C" not null unique, key bytea not null unique,
    task text not null, title text not null, stored bigint not null, expires bigint not null, dies bigint not null,
    passed integer not null, confidence double precision not null, consensus double precision not null, providers integer not null,
    cost double precision not null, time double precision not null, bytes bigint not null, place bigint not null
  );
  create index results_by_time on results (stored desc, id);
  create index results_by_task on results (task, stored desc, id);
  create index results_by_expiry on results (expires);
  create index results_by_death on results (dies);
  create table bodies (place bigint primary key, key bytea not null, body text not null);
  create table grounds (
    digest bytea not null, number bigint not null, uri text not null, version text not null, stamped integer not null,
    caller text not null, primary key (digest, number)
  );
  create index grounds_by_result on grounds (number);
  create table events (
    seq bigint generated always as identity primary key, number bigint not null, at bigint not null, what text not null, detail text
  );
  create index events_by_result on events (number, seq);
  create table leases (
    key bytea primary key, token text not null unique, until bigint not null, question text not null, bytes bigint not null,
    failed bigint, reason text
  );
  create index leases_by_end on leases (until, bytes);
  create table tallies (task text, name text, value double precision not null, primary key (task, name));
  create table changes (seq bigint generated always as identity primary key, kind text not null, id text not null);
  create table format (number integer not null);
  insert into format values (${format});
`;

interface PostgresDatabaseOptions extends ConnectionOptions {
  /** Small letters, digits and underscores. */
  readonly schema: string;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
}

/** How often the clock of the database is read. */
const compareMs = 600_000;
const clock = "extract(epoch from clock_timestamp()) * 1000";

/** First delay before a broken connection is opened again. */
const firstBackMs = 500;
const longestBackMs = 30_000;

export function createPostgresDatabase(options: PostgresDatabaseOptions): Database {
  const { schema, timeoutMs, runtime } = options;
  const { borrow, attach, toError, close } = createPool('the source "analysis"', options);
  const closing = new AbortController();
  const channel = schema;
  const [alone, byKey] = lockClasses(schema);
  const listening = new Set<Promise<void>>();
  let isPrepared: Promise<void> | undefined;
  /** Database time at which the monotonic clock of this process started; measured at `comparedMs`. */
  let beginningMs = 0;
  let comparedMs = 0;

  // `set local` leaves nothing behind in a connection that others use next, as with a pooler.
  const begin = (mode: string): string =>
    [
      `begin transaction isolation level ${mode}`,
      `set local search_path = ${schema}`,
      `set local statement_timeout = ${timeoutMs}`,
      `set local lock_timeout = ${timeoutMs}`,
      `set local idle_in_transaction_session_timeout = ${timeoutMs}`,
      "set local jit = off",
      "set local synchronous_commit = on",
    ].join("; ");
  const beginReading = begin("repeatable read, read only");
  const beginWriting = begin("read committed, read write");

  async function transact<T>(opening: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    try {
      return await borrow(closing.signal, async (client) => {
        await client.query(opening);
        try {
          const answer = await work(client);
          await client.query("commit");
          return answer;
        } catch (cause) {
          await client.query("rollback").catch(() => undefined);
          throw cause;
        }
      });
    } catch (cause) {
      throw toStoreError(toError(cause));
    }
  }

  /** The database refuses the mount, not the caller, so it is not "denied". */
  function toStoreError(error: ResourceError): ResourceError {
    const { cause, kind, message } = error;
    if (kind !== "denied") return error;
    const isForbidden = cause instanceof Error && cause.message.startsWith("42501");
    return lastingFailure(
      isForbidden
        ? `the role of this mount may not write to the schema ${quote(schema)}; its owner must make that role the owner of the schema and everything in it`
        : message,
      cause,
    );
  }

  async function prepare(): Promise<void> {
    await transact(`${beginWriting}; ${lock(alone, 0)}`, async (client) => {
      const found = await client.query(
        `select current_setting('server_encoding') as encoding, current_user::text as role, to_regclass($1) is not null as made,
           ${clock} as now`,
        [`${schema}.format`],
      );
      const { encoding, role, made, now } = found.rows[0] as SqlRow;
      if (encoding !== "UTF8")
        throw lastingFailure(
          `the database uses the encoding ${quote(String(encoding))}; results need a database with UTF8`,
        );
      compare(Number(now));
      if (made !== true)
        try {
          const { rows } = await client.query("select from pg_namespace where nspname = $1", [schema]);
          if (rows.length === 0) await client.query(`create schema ${schema}`);
          await client.query(tables);
        } catch (cause) {
          if ((cause as { readonly code?: unknown }).code !== "42501") throw cause;
          throw lastingFailure(
            `the role of this mount may not make the schema ${quote(schema)}; let an administrator run: CREATE SCHEMA ${schema} AUTHORIZATION ${quote(String(role))}`,
          );
        }
      const { rows } = await client.query("select number from format");
      if (Number((rows[0] as SqlRow | undefined)?.["number"]) !== format)
        throw lastingFailure(`the schema ${quote(schema)} was created by another version; choose another "schema"`);
    });
  }

  function compare(databaseMs: number): void {
    comparedMs = runtime.monotonicMs();
    beginningMs = databaseMs - comparedMs;
  }

  const databaseMs = (): number => Math.round(beginningMs + runtime.monotonicMs());

  /** The clock of the database may have been set. */
  async function compareAgain(): Promise<void> {
    if (runtime.monotonicMs() - comparedMs < compareMs) return;
    comparedMs = runtime.monotonicMs();
    const { rows } = await borrow(closing.signal, (client) => client.query(`select ${clock} as now`));
    compare(Number((rows[0] as SqlRow)["now"]));
  }

  function agree(): Promise<void> {
    if (isPrepared) compareAgain().catch(() => undefined);
    isPrepared ??= prepare().catch((cause: unknown) => {
      isPrepared = undefined;
      throw cause;
    });
    return isPrepared;
  }

  /** Runs until the signal ends or the connection is lost. */
  async function listenOnce(hear: (what: string) => void, signal: AbortSignal, onArmed: () => void): Promise<void> {
    await agree();
    const session = await attach(signal);
    const leave = (): void => void session.end();
    signal.addEventListener("abort", leave, { once: true });
    try {
      // The connection may have ended while it was being opened; no event reports it later.
      if (signal.aborted) return;
      await session.listen(channel, (payload) => hear(/^[0-9a-f]{64}$/.test(payload) ? payload : ""));
      onArmed();
      // Earlier writes are not reported, so check everything once.
      hear("");
      await session.over;
    } finally {
      signal.removeEventListener("abort", leave);
      await session.end();
    }
  }

  async function keepListening(hear: (what: string) => void, signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({
      firstMs: firstBackMs,
      longestMs: longestBackMs,
      steadyMs: 0,
      now: runtime.monotonicMs,
    });
    while (!signal.aborted) {
      let why: unknown;
      await listenOnce(hear, signal, backoff.begun).catch((cause: unknown) => (why = cause));
      if (signal.aborted) return;
      runtime.log("warn", "notifications of other processes are not received at present; polling instead", {
        ...(why !== undefined && { cause: toError(why) }),
      });
      await runtime.wait(backoff.ended(), signal).catch(() => undefined);
    }
  }

  return {
    now: databaseMs,
    leaseClockMs: databaseMs,
    agree,

    async read(work) {
      await agree();
      return transact(beginReading, (client) => perform(work(), client));
    },

    async write<T>(work: () => Work<T>, { key, isSmall, tells }: Writing<T> = {}) {
      await agree();
      // Locks are taken in a fixed order to avoid deadlocks; changes are numbered in the order in which they become visible.
      const locks = [...(key ? [lock(byKey, headOf(key))] : []), ...(isSmall ? [] : [lock(alone, 0)])];
      return transact([beginWriting, ...locks].join("; "), async (client) => {
        const answer = await perform(work(), client);
        const reported = tells?.(answer);
        if (reported !== undefined) await client.query("select pg_notify($1, $2)", [channel, reported]);
        return answer;
      });
    },

    listen(hear, signal) {
      const over = keepListening(hear, AbortSignal.any([signal, closing.signal])).finally(() => listening.delete(over));
      listening.add(over);
    },

    async close() {
      closing.abort();
      await Promise.all(listening);
      await close();
    },
  };
}

async function perform<T>(work: Work<T>, client: pg.ClientBase): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await runStatement(step.value, client));
  return step.value;
}

async function runStatement({ text, values }: Statement, client: pg.ClientBase): Promise<readonly SqlRow[]> {
  let count = 0;
  const numbered = text.replaceAll("?", () => `$${(count += 1)}`);
  return (await client.query(numbered, values.map(storable))).rows as SqlRow[];
}

/** A PostgreSQL text cannot contain NUL. */
function storable(value: SqlValue): SqlValue {
  return typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
}

function lock(area: number, which: number): string {
  return `select pg_advisory_xact_lock(${area}, ${which})`;
}

/** Advisory lock classes that other users of the database are unlikely to use: one for exclusive writes, one for writes of a key. */
function lockClasses(schema: string): readonly [number, number] {
  const digest = createHash("sha256").update(`pressmark analysis ${schema}`).digest();
  return [digest.readInt32BE(0), digest.readInt32BE(4)];
}

/** Two keys with the same head only wait for each other. */
function headOf(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getInt32(0);
}
