/** The way to the database: questions that can only read. */
import type pg from "pg";
import type { ResourceError } from "../../errors.ts";
import { type Attached, type ConnectionOptions, createPool } from "./pool.ts";

export type PostgresValue = string | number | boolean | null | readonly string[];
export type PostgresRow = Readonly<Record<string, unknown>>;

export interface PostgresQuery {
  readonly text: string;
  readonly values?: readonly PostgresValue[];
}

export interface PostgresConnection {
  /** One statement in a transaction that can only read, in one round trip. The statement runs nothing but what comes with the database. */
  ask(question: PostgresQuery, signal: AbortSignal): Promise<readonly PostgresRow[]>;
  /** The same for a statement that may run what users have written, such as views: it begins once nothing can be written. */
  askTables(question: PostgresQuery, signal: AbortSignal): Promise<readonly PostgresRow[]>;
  /** A connection of one's own, for as long as the signal lasts. */
  attach(signal: AbortSignal): Promise<PostgresSession>;
  toError(cause: unknown): ResourceError;
  /** Afterwards nothing is open. */
  close(): Promise<void>;
}

export interface PostgresSession extends Pick<Attached, "listen" | "over" | "end"> {
  ask(question: PostgresQuery): Promise<readonly PostgresRow[]>;
}

export function createConnection(options: ConnectionOptions): PostgresConnection {
  const { timeoutMs } = options;
  const { borrow, attach, toError, close } = createPool("postgres", options);
  // Nothing of this stays behind in a connection that others get after us, as behind a pooler.
  const begin = [
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    `SET LOCAL statement_timeout = ${timeoutMs}`,
    `SET LOCAL lock_timeout = ${Math.min(2000, timeoutMs)}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs + 5000}`,
    // Nothing that someone made is mistaken for what comes with the database.
    "SET LOCAL search_path = pg_catalog",
    // To compile a question takes longer than to answer it.
    "SET LOCAL jit = off",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL bytea_output = 'hex'",
    "SET LOCAL extra_float_digits = 1",
  ].join("; ");
  /** All three are on their way before the first is answered. */
  async function exchange(client: pg.ClientBase, question: PostgresQuery): Promise<readonly PostgresRow[]> {
    const [begun, answer, ended] = await Promise.allSettled([
      client.query(begin),
      send(client, question),
      client.query("COMMIT"),
    ]);
    for (const each of [begun, answer, ended]) if (each.status === "rejected") throw each.reason;
    return answer.status === "fulfilled" ? (answer.value.rows as PostgresRow[]) : [];
  }

  return {
    toError,

    ask: (question, signal) => borrow(signal, (client) => exchange(client, question)),

    askTables(question, signal) {
      return borrow(signal, async (client, retire) => {
        await client.query(`${begin}; SAVEPOINT question`);
        const [answer] = await Promise.allSettled([send(client, question)]);
        if (!(await isCleanAfter(client))) retire();
        if (answer.status === "rejected") throw answer.reason;
        return answer.value.rows as PostgresRow[];
      });
    },

    async attach(signal) {
      const { client, listen, over, end } = await attach(signal);
      return {
        listen,
        over,
        end,
        async ask(question) {
          try {
            return await exchange(client, question);
          } catch (cause) {
            throw toError(cause);
          }
        },
      };
    },

    close,
  };
}

/**
 * Takes back what a function of a view may have done to the session. Settings, cursors and channels end with the transaction. Locks that
 * are held by the session do not; they are released within the transaction, because behind a pooler the next statement may go to another
 * session. Prepared statements do not end either: a session that has one is given up, since those of other users of a pooler must stay.
 */
const cleanUp = [
  "ROLLBACK TO SAVEPOINT question",
  "SELECT pg_catalog.pg_advisory_unlock_all()",
  `SELECT FROM pg_catalog.pg_prepared_statements WHERE from_sql AND prepare_time >= pg_catalog.transaction_timestamp()`,
  "ROLLBACK",
].join("; ");

/** Ends the transaction of a question about tables. False for a session that must not be used again. */
async function isCleanAfter(client: pg.ClientBase): Promise<boolean> {
  try {
    const results = (await client.query(cleanUp)) as unknown as readonly pg.QueryResult[];
    return results[2]?.rowCount === 0;
  } catch {
    return false;
  }
}

function send(client: pg.ClientBase, { text, values = [] }: PostgresQuery): Promise<pg.QueryResult> {
  return client.query({ text, values: values as unknown[], queryMode: "extended" } as pg.QueryConfig);
}
