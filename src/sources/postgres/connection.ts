/** The database connection: read-only queries. */
import type pg from "pg";
import type { ResourceError } from "../../errors.ts";
import { type Attached, type ConnectionOptions, createPool } from "../../backends/postgres/pool.ts";

export type PostgresValue = string | number | boolean | null | readonly string[];
export type PostgresRow = Readonly<Record<string, unknown>>;

export interface PostgresQuery {
  readonly text: string;
  readonly values?: readonly PostgresValue[];
}

export interface PostgresConnection {
  /** Runs one statement in a read-only transaction, in one round trip. The statement must use only built-in functions. */
  query(query: PostgresQuery, signal: AbortSignal): Promise<readonly PostgresRow[]>;
  /** The same for a statement that may run user code, such as views: it starts when the transaction is read-only. */
  queryTables(query: PostgresQuery, signal: AbortSignal): Promise<readonly PostgresRow[]>;
  /** A separate connection, open until the signal ends. */
  attach(signal: AbortSignal): Promise<PostgresSession>;
  toError(cause: unknown): ResourceError;
  /** Nothing is open after it resolves. */
  close(): Promise<void>;
}

export interface PostgresSession extends Pick<Attached, "listen" | "over" | "end"> {
  query(query: PostgresQuery): Promise<readonly PostgresRow[]>;
}

export function createConnection(options: ConnectionOptions): PostgresConnection {
  const { timeoutMs } = options;
  const { borrow, attach, toError, close } = createPool('the source "postgres"', options);
  // `SET LOCAL` leaves nothing behind in a connection that others use next, as with a pooler.
  const begin = [
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    `SET LOCAL statement_timeout = ${timeoutMs}`,
    `SET LOCAL lock_timeout = ${Math.min(2000, timeoutMs)}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${timeoutMs + 5000}`,
    // User objects cannot replace built-in ones.
    "SET LOCAL search_path = pg_catalog",
    // Compiling a query would take longer than running it.
    "SET LOCAL jit = off",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL bytea_output = 'hex'",
    "SET LOCAL extra_float_digits = 1",
  ].join("; ");
  /** All three are sent before the first response. */
  async function exchange(client: pg.ClientBase, query: PostgresQuery): Promise<readonly PostgresRow[]> {
    const [begun, result, ended] = await Promise.allSettled([
      client.query(begin),
      send(client, query),
      client.query("COMMIT"),
    ]);
    for (const each of [begun, result, ended]) if (each.status === "rejected") throw each.reason;
    return result.status === "fulfilled" ? (result.value.rows as PostgresRow[]) : [];
  }

  return {
    toError,

    query: (query, signal) => borrow(signal, (client) => exchange(client, query)),

    queryTables(query, signal) {
      return borrow(signal, async (client, retire) => {
        await client.query(`${begin}; SAVEPOINT question`);
        const [result] = await Promise.allSettled([send(client, query)]);
        if (!(await isCleanAfter(client))) retire();
        if (result.status === "rejected") throw result.reason;
        return result.value.rows as PostgresRow[];
      });
    },

    async attach(signal) {
      const { client, listen, over, end } = await attach(signal);
      return {
        listen,
        over,
        end,
        async query(query) {
          try {
            return await exchange(client, query);
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
 * Undoes what a function of a view may have done to the session. Settings, cursors and channels end with the transaction. Session locks do
 * not; they are released inside the transaction, because with a pooler the next statement may go to another session. Prepared statements do
 * not end either: a session that has one is closed, since those of other pooler users must stay.
 */
const cleanUp = [
  "ROLLBACK TO SAVEPOINT question",
  "SELECT pg_catalog.pg_advisory_unlock_all()",
  `SELECT FROM pg_catalog.pg_prepared_statements WHERE from_sql AND prepare_time >= pg_catalog.transaction_timestamp()`,
  "ROLLBACK",
].join("; ");

/** Ends the transaction of a query on tables. False for a session that must not be reused. */
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
