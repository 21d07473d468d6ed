/** What is special about records in PostgreSQL: expired rows are removed. */
import { describe, expect, it, vi } from "vitest";
import { byteLength } from "../lib/byte-length.ts";
import { withMembers } from "../lib/with-members.ts";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { Store } from "./store.ts";
import { stateMigrations } from "./tables.ts";
import { saveContents, useDatabase } from "./test-database.ts";

const test = useDatabase();

/** A database that counts the statements with this text. */
function counting(database: SharedDatabase, text: string) {
  const counts = { statements: 0 };
  const counted = withMembers(database, {
    query: (...given: Parameters<SharedDatabase["query"]>) => {
      counts.statements += Number(given[0].includes(text));
      return database.query(...given);
    },
  } as Pick<SharedDatabase, "query">);
  return { counts, counted };
}

async function numbersIn(store: Store, ...logs: string[]): Promise<unknown[]> {
  const numbers: unknown[] = [];
  for (const log of logs) for await (const { n } of store.read(log)) numbers.push(n);
  return numbers;
}

const addEntries = (database: SharedDatabase, log: string, most: number) =>
  database.query(
    "insert into logs (log, value) select $1, json_build_object('n', n) from generate_series(1, $2) as n",
    [log, most],
  );

describe.skipIf(test.missing)("records in PostgreSQL", () => {
  it("are all removed after they have expired, however many there are", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    await database.query(
      `insert into records select 'sessions', n::text, '{}'::json, n, clock_timestamp() - interval '1 s' from generate_series(1, 25000) as n
       union all select 'sessions', 'current', '{}'::json, 0, clock_timestamp() + interval '1 hour'`,
    );
    let waits = 0;
    const wait = (_ms: number, signal: AbortSignal): Promise<void> =>
      (waits += 1) === 1 ? Promise.resolve() : test.runtime.wait(60_000, signal);
    const store = createPostgresStore({ database, runtime: { ...test.runtime, wait } });
    await vi.waitFor(() => expect(waits).toBe(2), { timeout: 20_000 });
    expect(await database.query("select key from records")).toEqual([{ key: "current" }]);
    await store.close();
  });

  it("of a log are removed in statements of limited size, and those of other logs stay", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    await addEntries(database, "audit", 25_000);
    const { counts, counted } = counting(database, "delete from logs");
    const store = createPostgresStore({ database: counted, runtime: test.runtime });
    await store.append("other", [{ n: 0 }]);
    const keep = { entries: 2, bytes: 1000 };
    await store.trim("audit", keep);
    expect(await numbersIn(store, "audit", "other")).toEqual([24_999, 25_000, 0]);
    expect(counts.statements).toBe(3);
    await store.trim("audit", keep);
    expect(counts.statements).toBe(3);
    await store.close();
  });

  it("of a log are counted in statements of limited size", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    await addEntries(database, "audit", 120_000);
    const { counts, counted } = counting(database, "octet_length");
    const store = createPostgresStore({ database: counted, runtime: test.runtime });
    await store.append("other", [{ n: 0 }]);
    const bytes = byteLength(Array.from({ length: 109_999 }, (_each, index) => `{"n" : ${index + 10_002}}`));
    for (const [keep, first] of [
      [{ entries: 110_000, bytes: 1e9 }, 10_001],
      [{ entries: 110_000, bytes }, 10_002],
    ] as const) {
      await store.trim("audit", keep);
      const rows = await database.query(
        "select min((value->>'n')::int) as first, count(*) as kept from logs where log = 'audit'",
      );
      expect(rows).toEqual([{ first, kept: 120_001 - first }]);
    }
    expect(counts.statements).toBe(6);
    await store.close();
  });

  it("of a log are removed in one statement more after the signal was aborted", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    await addEntries(database, "audit", 25_000);
    const store = createPostgresStore({ database, runtime: test.runtime });
    const keep = { entries: 2, bytes: 1000 };
    await store.trim("audit", keep, AbortSignal.abort());
    expect((await numbersIn(store, "audit"))[0]).toBe(10_001);
    await store.trim("audit", keep);
    expect(await numbersIn(store, "audit")).toEqual([24_999, 25_000]);
    await store.close();
  });

  it("have other versions than those that were lost when an older dump was restored", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const store = createPostgresStore({ database, runtime: test.runtime });
    const before = await store.put("sets", "a", { n: 0 });
    const restore = await saveContents(database);
    const lost = await store.put("sets", "a", { n: 1 });
    await restore();
    expect(await store.get("sets", "a")).toEqual(before);
    const later = await store.put("sets", "a", { n: 2 });
    expect([before?.version, lost?.version]).not.toContain(later?.version);
    expect(await store.put("sets", "a", { n: 3 }, { ifVersion: lost?.version })).toBeUndefined();
    await store.close();
  });
});
