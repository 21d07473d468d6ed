/** Both kinds of results database, each empty and with a clock moved by hand, for tests. */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { dirname } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { wait } from "../../lib/wait.ts";
import { missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import type { Runtime } from "../../source.ts";
import { openAnalysisDatabase } from "./open-database.ts";
import type { Database, Statement } from "./sql.ts";
import { optionsFor, temporaryFile, type Where } from "./test-results.ts";

export interface Kind {
  readonly name: "a file" | "PostgreSQL";
  /** Why it is not available, as a sentence. */
  readonly missing?: string;
}

export const kinds: readonly Kind[] = [{ name: "a file" }, { name: "PostgreSQL", missing: missingFor("npm") }];

export interface Place {
  readonly where: Where;
  /** The query plan of a statement. */
  explain(statement: Statement): Promise<string>;
  count(rows: string): Promise<number>;
}

/** Removes what was opened after all tests. */
export function usePlaces({ name, missing }: Kind): { place(): Place; server(): PostgresServer } {
  let server: PostgresServer | undefined;
  const files: string[] = [];
  let made = 0;
  beforeAll(async () => {
    if (name === "PostgreSQL" && missing === undefined) server = await startPostgres("npm");
  }, 60_000);
  afterAll(async () => {
    await server?.close();
    for (const path of files) rmSync(dirname(path), { recursive: true, force: true });
  });

  function file(): Place {
    const path = temporaryFile();
    files.push(path);
    const run = (text: string, values: readonly unknown[] = []) => {
      const opened = new DatabaseSync(path);
      try {
        return opened.prepare(text).all(...(values as string[]));
      } finally {
        opened.close();
      }
    };
    return {
      where: { path },
      explain: async ({ text, values }) =>
        run(`explain query plan ${text}`, values)
          .map(({ detail }) => String(detail))
          .join("\n"),
      count: async (rows) => Number(run(`select count(*) as count from ${rows}`)[0]?.["count"]),
    };
  }

  function database(from: PostgresServer): Place {
    const schema = `results_${(made += 1)}`;
    const run = async (text: string, values: readonly unknown[] = []) => {
      const client = await from.connect("postgres");
      try {
        // Shows whether an index could be used, however small the tables are.
        for (const setting of [`search_path = ${schema}`, "enable_seqscan = off", "enable_sort = off"])
          await client.query(`set ${setting}`);
        return (await client.query(text, values as unknown[])).rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    };
    return {
      where: { url: from.url("postgres"), schema },
      async explain({ text, values }) {
        let count = 0;
        const numbered = text.replaceAll("?", () => `$${(count += 1)}`);
        return (await run(`explain ${numbered}`, values)).map((row) => String(row["QUERY PLAN"])).join("\n");
      },
      count: async (rows) => Number((await run(`select count(*) from ${rows}`))[0]?.["count"]),
    };
  }

  return {
    place: () => (server ? database(server) : file()),
    server() {
      if (!server) throw new Error("no server available");
      return server;
    },
  };
}

export interface Opened {
  readonly database: Database;
  /** Statements that were run. */
  readonly asked: Statement[];
  advance(ms: number): void;
  /** Sets the wall clock forward, or back with a negative value. */
  setWallClock(byMs: number): void;
}

/** Time stands still between moves; waits are real. */
export async function openAt(where: Where, startMs = 1_700_000_000_000): Promise<Opened> {
  let passedMs = 0;
  let wallMs = startMs;
  const runtime: Runtime = {
    env: process.env,
    now: () => wallMs + passedMs,
    monotonicMs: () => 1_000_000 + passedMs,
    wait,
    log: () => undefined,
  };
  const database = await openAnalysisDatabase(optionsFor(where), runtime);
  const requested: Statement[] = [];
  return {
    asked: requested,
    advance: (ms) => void (passedMs += ms),
    setWallClock: (byMs) => void (wallMs += byMs),
    database: {
      ...database,
      read: (work) =>
        database.read(function* () {
          const steps = work();
          let step = steps.next();
          while (!step.done) {
            requested.push(step.value);
            step = steps.next(yield step.value);
          }
          return step.value;
        }),
    },
  };
}
