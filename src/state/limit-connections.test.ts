import { describe, expect, it } from "vitest";
import { limitConnections } from "./limit-connections.ts";
import { migrate } from "./migrate.ts";
import { createPostgresLeases } from "./postgres-leases.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const test = useDatabase();
const signal = new AbortController().signal;

describe.skipIf(test.missing)("a database with limited connections", () => {
  it("leaves the others to leases, however much work waits", async () => {
    const database = test.open({ maxConnections: 3 });
    await migrate(database, stateMigrations);
    const limited = limitConnections(database, 2);
    const stop = new AbortController();
    const work = Array.from({ length: 6 }, () =>
      failureOf(limited.snapshot((sql) => sql.query("select pg_sleep(60)"), stop.signal)),
    );
    await expect.poll(() => database.pool.open).toBe(2);
    const leases = createPostgresLeases({ database, instance: "1", runtime: test.runtime });
    const lease = await leases.acquire("watch:docs", signal);
    expect(database.pool.waiting).toBe(0);
    await lease.release();
    stop.abort();
    expect((await Promise.all(work)).map(({ kind }) => kind)).toEqual(work.map(() => "cancelled"));
    await leases.close();
    expect(await limited.query("select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("uses a connection again after work has failed", async () => {
    const limited = limitConnections(test.open(), 1);
    await failureOf(limited.query("select * from missing"));
    await failureOf(limited.transaction((sql) => sql.query("select * from missing")));
    expect(await limited.snapshot((sql) => sql.query("select 1 as one"))).toEqual([{ one: 1 }]);
  });
});
