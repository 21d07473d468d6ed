/** Opens the PostgreSQL database that the instances of a server share. */
import type { Socket } from "node:net";
import type pg from "pg";
import { createPool } from "../backends/postgres/pool.ts";
import { cancelled, lastingFailure, quote, ResourceError, unavailable } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase, SharedSql, SqlParameter } from "./database.ts";
import { keepListening } from "./keep-listening.ts";
import { forState, parseStateUrl } from "./state-url.ts";

export interface DatabaseOptions {
  /** `postgres://user:password@host:5432/database?schema=pressmark` */
  readonly url: string;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** Time limit of one statement, and of a pause between two statements of a transaction. */
  readonly timeoutMs?: number;
  /** Besides these, one connection for each `listen`. */
  readonly maxConnections?: number;
  /** The database refuses every change. */
  readonly isReadOnly?: boolean;
}

/** Connects on first use. */
export function openDatabase(options: DatabaseOptions): SharedDatabase {
  const { runtime, timeoutMs = 10_000, maxConnections = 5, isReadOnly = false } = options;
  const { target, tls, schema } = parseStateUrl(options.url);
  const pool = createPool('"server.state"', { target, tls, timeoutMs, maxConnections });
  const closing = new AbortController();
  const listening = new Set<Promise<void>>();
  let closed: Promise<void> | undefined;

  // `set local` leaves nothing behind in a connection that others use next, as with a pooler.
  const begin = (mode: string): string =>
    [
      `begin transaction isolation level ${mode}`,
      `set local search_path = "${schema}"`,
      `set local statement_timeout = ${timeoutMs}`,
      `set local lock_timeout = ${timeoutMs}`,
      `set local idle_in_transaction_session_timeout = ${timeoutMs}`,
      "set local jit = off",
      "set local synchronous_commit = on",
    ].join("; ");
  const beginWriting = begin(`read committed, read ${isReadOnly ? "only" : "write"}`);
  const beginReading = begin("repeatable read, read only");

  function refuse(cause: unknown): never {
    throw toStateError(pool.toError(cause), schema, timeoutMs);
  }

  async function borrow<T>(
    signal: AbortSignal | undefined,
    use: (client: pg.ClientBase, signal: AbortSignal) => Promise<T>,
    freed?: () => void,
  ): Promise<T> {
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
    try {
      const useTyped = (client: pg.ClientBase): Promise<T> => {
        for (const type of numbers) client.setTypeParser(type, Number);
        return use(client, either);
      };
      return await pool.borrow(either, useTyped, freed);
    } catch (cause) {
      return refuse(cause);
    }
  }

  /** Runs one statement in a transaction of its own. Begin, statement and commit are sent before the first response: one round trip. */
  async function runAlone(
    client: pg.ClientBase,
    text: string,
    values: readonly SqlParameter[],
  ): Promise<readonly unknown[]> {
    writeTogether(client);
    const [begun, result, ended] = await Promise.allSettled([
      client.query(beginWriting),
      send(client, text, values),
      client.query("commit"),
    ]);
    for (const each of [result, begun, ended]) if (each.status === "rejected") throw each.reason;
    return result.status === "fulfilled" ? result.value.rows : [];
  }

  /** A failure after which the connection is still usable is returned, not thrown: the pool closes a connection whose use failed. */
  async function transact<T>(
    opening: string,
    work: (sql: SharedSql) => Promise<T>,
    signal?: AbortSignal,
    freed?: () => void,
  ): Promise<T> {
    const useClient = async (client: pg.ClientBase, either: AbortSignal): Promise<Ended<T>> => {
      writeTogether(client);
      const begun = client.query(opening);
      // A statement that reads does no harm if the transaction could not be opened, so it is sent in the same round trip.
      if (opening === beginReading) begun.catch(() => undefined);
      else await begun;
      let isOver = false;
      const sql: SharedSql = {
        async query<Row>(text: string, values: readonly SqlParameter[] = []) {
          if (isOver) throw new ResourceError("unexpected", "a statement was sent after its transaction had ended");
          // The caller has left, and waits for nothing that the work still wants to know.
          if (either.aborted) throw cancelled(either.reason);
          try {
            writeTogether(client);
            return (await send(client, text, values)).rows as Row[];
          } catch (cause) {
            await begun.catch(refuse);
            return refuse(cause);
          }
        },
      };
      try {
        const result = await work(sql);
        await begun.catch(refuse);
        if (either.aborted) throw cancelled(either.reason);
        isOver = true;
        const { command } = await client.query("commit").catch(refuse);
        // The work ignored the error of a statement: the server has rolled everything back.
        if (command !== "COMMIT")
          throw unavailable("a statement failed, so the transaction was rolled back; try again");
        return { result };
      } catch (cause) {
        isOver = true;
        const isRolledBack = await client.query("rollback").then(
          () => true,
          () => false,
        );
        if (!isRolledBack) throw cause;
        return { cause };
      }
    };
    const ended = await borrow(signal, useClient, freed);
    if ("cause" in ended) throw ended.cause;
    return ended.result;
  }

  return {
    schema,
    get pool() {
      return pool.usage;
    },
    query: <Row>(text: string, values: readonly SqlParameter[] = []) =>
      borrow(undefined, (client) => runAlone(client, text, values)) as Promise<readonly Row[]>,
    transaction: (work, signal, freed) => transact(beginWriting, work, signal, freed),
    snapshot: (work, signal, freed) => transact(beginReading, work, signal, freed),

    listen(channel, handlers, signal) {
      const over = keepListening({
        attach: (until) => pool.attach(until).catch(refuse),
        channel,
        handlers,
        runtime,
        signal: AbortSignal.any([signal, closing.signal]),
      }).finally(() => listening.delete(over));
      listening.add(over);
    },

    close() {
      closing.abort();
      return (closed ??= Promise.all(listening).then(() => pool.close()));
    },
  };
}

type Ended<T> = { readonly result: T } | { readonly cause: unknown };

/** The types bigint and numeric, which pg returns as texts. */
const numbers = [20, 1700];

/** Statements that are sent before the event loop continues are written to the socket at once. */
function writeTogether(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

function send(client: pg.ClientBase, text: string, values: readonly SqlParameter[]): Promise<pg.QueryResult> {
  return client.query({ text, values: [...values], queryMode: "extended" } as pg.QueryConfig);
}

/** The SQLSTATE of an error of the shared database. */
export function sqlStateOf({ cause }: ResourceError): string | undefined {
  return cause instanceof Error ? /^([0-9A-Z]{5}): /.exec(cause.message)?.[1] : undefined;
}

/** An error for the operator of the server. The database refuses the server, never a caller: so no error of it is "denied". */
function toStateError(error: ResourceError, schema: string, timeoutMs: number): ResourceError {
  const { kind, cause } = error;
  const code = sqlStateOf(error);
  switch (code) {
    case "42501":
      return lastingFailure(
        `the role of "server.state" may not use the schema ${quote(schema)} or create it; its owner must make that role the owner of the schema and everything in it`,
        cause,
      );
    case "42P01":
    case "42703":
    case "3F000":
      return lastingFailure(
        `the schema ${quote(schema)} lacks a table or column; run "pressmark migrate" with this version of Pressmark`,
        cause,
      );
    case "57014":
      return unavailable(`the shared database took longer than ${timeoutMs} ms; check its load, then try again`, cause);
    case "25006":
      return unavailable(
        'the shared database accepts no writes, as a standby does; "server.state" must lead to the primary',
        cause,
      );
    default: {
      if (code?.startsWith("53"))
        return unavailable(
          "the shared database has no free connection, memory or disk space; check its max_connections and its disk, then try again",
          cause,
        );
      const known = forState(error) as ResourceError;
      return kind === "denied" && code !== undefined ? lastingFailure(known.message, cause) : known;
    }
  }
}
