/** A real PostgreSQL server for the tests of a file, and a schema of its own for each test. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { wait } from "../lib/wait.ts";
import { ResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { missingFor, type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";

export interface TestDatabase {
  /** Why there is no server, as a sentence: pass it to `describe.skipIf`. */
  readonly missing: string | undefined;
  server(): PostgresServer;
  /** The URL of this test's schema, which does not exist yet. */
  url(): string;
  /** Opens this test's schema. It is closed after the test. */
  open(options?: Partial<DatabaseOptions>): SharedDatabase;
  /** Clocks that run; messages of the log are collected in `logged`. */
  readonly runtime: Runtime;
  readonly logged: string[];
}

/** Starts PostgreSQL 18 before the tests of the file, and removes it afterwards. */
export function useDatabase(): TestDatabase {
  const missing = missingFor("npm");
  let server: PostgresServer | undefined;
  let made = 0;
  const logged: string[] = [];
  const opened: SharedDatabase[] = [];
  const runtime: Runtime = {
    env: {},
    now: () => Date.now(),
    monotonicMs,
    wait,
    log: (level, message, facts) =>
      void logged.push(`${level} ${message} ${facts ? String(facts["cause"] ?? "") : ""}`),
  };
  beforeAll(async () => {
    if (missing === undefined) server = await startPostgres("npm", { settings: ["max_connections = 100"] });
  }, 60_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    logged.length = 0;
    made += 1;
  });
  afterAll(async () => {
    await server?.close();
  });

  const running = (): PostgresServer => {
    if (!server) throw new Error("no PostgreSQL is running");
    return server;
  };
  const url = (): string => `${running().url("postgres")}?schema=test_${made}`;
  return {
    missing,
    server: running,
    url,
    open(options = {}) {
      const database = openDatabase({ url: url(), runtime, ...options });
      opened.push(database);
      return database;
    },
    runtime,
    logged,
  };
}

/** Saves the contents of the schema. The result restores them, as an operator does with an older dump while instances run. */
export async function saveContents(database: SharedDatabase): Promise<() => Promise<void>> {
  const { schema } = database;
  const readTables = async (sql: SharedSql): Promise<readonly string[]> =>
    (
      await sql.query<{ name: string }>(
        "select relname as name from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by 1",
        [schema],
      )
    ).map(({ name }) => name);
  const saved = `${schema}_saved`;
  const tables = await readTables(database);
  await database.query(`create schema ${saved}`);
  for (const name of tables) await database.query(`create table ${saved}.${name} as table ${schema}.${name}`);
  const sequences = await database.query<{ name: string; last: number | null }>(
    "select sequencename as name, last_value as last from pg_sequences where schemaname = $1",
    [schema],
  );
  return () =>
    database.transaction(async (sql) => {
      for (const name of await readTables(sql)) {
        if (!tables.includes(name)) await sql.query(`drop table ${name}`);
        else {
          await sql.query(`truncate ${name}`);
          await sql.query(`insert into ${name} overriding system value table ${saved}.${name}`);
        }
      }
      for (const { name, last } of sequences)
        await sql.query("select setval($1::regclass, $2, $3)", [`${schema}.${name}`, last ?? 1, last !== null]);
    });
}

/** The error that the work must end with. */
export async function failureOf(work: Promise<unknown>): Promise<ResourceError> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof ResourceError) return error;
  throw new Error(`expected a ResourceError, not ${String(error)}`, { cause: error });
}
