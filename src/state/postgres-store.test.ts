/** What is special about records in PostgreSQL: expired rows are removed. */
import { describe, expect, it, vi } from "vitest";
import { migrate } from "./migrate.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { stateMigrations } from "./tables.ts";
import { saveContents, useDatabase } from "./test-database.ts";

const test = useDatabase();

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
    await database.query(
      "insert into logs (log, value) select 'audit', json_build_object('n', n) from generate_series(1, 25000) as n",
    );
    let statements = 0;
    const counting: typeof database = {
      ...database,
      schema: database.schema,
      pool: database.pool,
      query(text, values) {
        statements += Number(text.includes("delete from logs"));
        return database.query(text, values);
      },
    };
    const store = createPostgresStore({ database: counting, runtime: test.runtime });
    await store.append("other", [{ n: 0 }]);
    await store.trim("audit", 2);
    const entries: unknown[] = [];
    for (const log of ["audit", "other"]) for await (const { n } of store.read(log)) entries.push(n);
    expect(entries).toEqual([24_999, 25_000, 0]);
    expect(statements).toBe(3);
    await store.trim("audit", 2);
    expect(statements).toBe(3);
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
