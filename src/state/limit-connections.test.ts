import { describe, expect, it } from "vitest";
import type { ResourceError } from "../errors.ts";
import { databaseForCallers } from "./database-for-callers.ts";
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

  it("counts cancelled work until it has ended, and sends nothing more of it", async () => {
    const database = test.open();
    const limited = limitConnections(databaseForCallers(database), 1);
    const events: string[] = [];
    const [begun, pause, stop] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()];
    const cancelled = limited.snapshot(async (sql) => {
      begun.resolve();
      await pause.promise;
      await sql.query("select 1").catch(({ kind }: ResourceError) => events.push(`statement: ${kind}`));
      events.push("the cancelled work ended");
    }, stop.signal);
    await begun.promise;
    stop.abort();
    expect((await failureOf(cancelled)).kind).toBe("cancelled");
    const next = limited.snapshot(async () => void events.push("the next work began"));
    // The others of the pool are free meanwhile: these take longer than the next work needs to begin.
    for (let count = 0; count < 5; count += 1) await database.query("select 1");
    pause.resolve();
    await next;
    expect(events).toEqual(["statement: cancelled", "the cancelled work ended", "the next work began"]);
  });

  it("uses a connection again after work was cancelled before it had one", async () => {
    const limited = limitConnections(test.open(), 1);
    const stop = new AbortController();
    const work = limited.snapshot((sql) => sql.query("select 1"), stop.signal);
    stop.abort();
    expect((await failureOf(work)).kind).toBe("cancelled");
    const absent = limitConnections(test.open({ url: "postgres://u:x@127.0.0.1:1/db" }), 1);
    await failureOf(absent.snapshot((sql) => sql.query("select 1")));
    expect((await failureOf(absent.snapshot((sql) => sql.query("select 1")))).message).toMatch(/no database listens/);
    expect(await limited.snapshot((sql) => sql.query("select 1 as one"))).toEqual([{ one: 1 }]);
  });

  it("uses a connection again after work has failed", async () => {
    const limited = limitConnections(test.open(), 1);
    await failureOf(limited.query("select * from missing"));
    await failureOf(limited.transaction((sql) => sql.query("select * from missing")));
    expect(await limited.snapshot((sql) => sql.query("select 1 as one"))).toEqual([{ one: 1 }]);
  });
});
