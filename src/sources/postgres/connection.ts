/** The way to the database: questions that can only read. */
import type pg from "pg";
import type { ResourceError } from "../../errors.ts";
import { type Attached, type ConnectionOptions, createPool } from "./pool.ts";

export type Value = string | number | boolean | null | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

export interface Question {
  readonly text: string;
  readonly values?: readonly Value[];
}

export interface Connection {
  /** One statement in a transaction that can only read, in one round trip. The statement runs nothing but what comes with the database. */
  ask(question: Question, signal: AbortSignal): Promise<readonly Row[]>;
  /** The same for a statement that may run what users have written, such as views: it begins once nothing can be written. */
  askTables(question: Question, signal: AbortSignal): Promise<readonly Row[]>;
  /** A connection of one's own, for as long as the signal lasts. */
  attach(signal: AbortSignal): Promise<Session>;
  toError(cause: unknown): ResourceError;
  /** Afterwards nothing is open. */
  close(): Promise<void>;
}

export interface Session extends Pick<Attached, "listen" | "over" | "end"> {
  ask(question: Question): Promise<readonly Row[]>;
}

export function createConnection(options: ConnectionOptions): Connection {
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
  async function exchange(client: pg.ClientBase, question: Question): Promise<readonly Row[]> {
    const [begun, answer, ended] = await Promise.allSettled([
      client.query(begin),
      send(client, question),
      client.query("COMMIT"),
    ]);
    for (const each of [begun, answer, ended]) if (each.status === "rejected") throw each.reason;
    return answer.status === "fulfilled" ? (answer.value.rows as Row[]) : [];
  }

  return {
    toError,

    ask: (question, signal) => borrow(signal, (client) => exchange(client, question)),

    askTables(question, signal) {
      return borrow(signal, async (client) => {
        await client.query(begin);
        const [answer] = await Promise.allSettled([send(client, question)]);
        // What a function of a view may have set for the session is taken back, too.
        const [ended] = await Promise.allSettled([client.query("ROLLBACK")]);
        if (answer.status === "rejected") throw answer.reason;
        if (ended.status === "rejected") throw ended.reason;
        return answer.value.rows as Row[];
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

function send(client: pg.ClientBase, { text, values = [] }: Question): Promise<pg.QueryResult> {
  return client.query({ text, values: values as unknown[], queryMode: "extended" } as pg.QueryConfig);
}
