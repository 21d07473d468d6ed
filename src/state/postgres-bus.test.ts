/** What is special about a bus in PostgreSQL: rows that are removed, and notifications without content. */
import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { createPostgresBus } from "./postgres-bus.ts";
import { stateMigrations } from "./tables.ts";
import { listenTo } from "./test-bus-listener.ts";
import { saveContents, useDatabase } from "./test-database.ts";

describe("a bus in PostgreSQL", () => {
  const test = useDatabase();
  if (test.missing !== undefined) return it.skip(`is not tested: ${test.missing}`, () => undefined);

  async function prepare(): Promise<SharedDatabase> {
    const database = test.open();
    await migrate(database, stateMigrations);
    return database;
  }

  it("removes messages that are old or too many, now and then, also if nothing is published", async () => {
    const database = await prepare();
    let pass: (() => void) | undefined;
    const runtime: Runtime = {
      ...test.runtime,
      wait: (ms, signal) =>
        ms === 30_000
          ? Promise.race([test.runtime.wait(ms, signal), new Promise<void>((resolve) => (pass = resolve))])
          : test.runtime.wait(ms, signal),
    };
    const pruned = (left: number) =>
      vi.waitFor(async () => {
        pass?.();
        expect(await countOf(database)).toBe(left);
      });
    const bus = createPostgresBus({ database, runtime, keepCount: 10 });
    for (let body = 0; body < 30; body += 1) await bus.publish({ topic: "a", body, fence: 0 });
    expect(await countOf(database)).toBe(30);
    await database.query("update changes set at = at - interval '11 minutes' where seq < 25");
    await database.query("insert into changes values ('ended', 1, 0, '1', now() - interval '11 minutes')");
    await pruned(6);
    for (let body = 30; body < 45; body += 1) await bus.publish({ topic: "a", body, fence: 0 });
    await pruned(10);
    await bus.close();
  });

  it("notifies with topic and number, and no content", async () => {
    const database = await prepare();
    const stop = new AbortController();
    const heard: string[] = [];
    await new Promise<void>((connected) => {
      const hear = { notified: (payload: string) => void heard.push(payload), connected, lost: () => undefined };
      database.listen(`${database.schema}_bus`, hear, stop.signal);
    });
    const bus = createPostgresBus({ database, runtime: test.runtime });
    await bus.publish({ topic: "mount:my notes", body: { secret: "content" }, fence: 7 });
    await vi.waitFor(() => expect(heard).toEqual(["mount:my notes 1"]));
    stop.abort();
    await bus.close();
  });

  it("stores messages that wait in one transaction", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime });
    const sent = Array.from({ length: 900 }, (_, body) => bus.publish({ topic: `topic ${body % 3}`, body, fence: 0 }));
    await Promise.all(sent);
    const [row] = await database.query<{ count: number }>("select count(distinct xmin::text) from changes");
    // The first alone, then 500, then the rest.
    expect(row?.count).toBe(3);
    await bus.close();
  });

  it("reads many and large messages a page at a time", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime });
    const listener = await listenTo(bus, "a");
    const large = "x".repeat(400_000);
    await Promise.all(Array.from({ length: 1200 }, (_, body) => bus.publish({ topic: "a", body, fence: 0 })));
    for (let count = 0; count < 12; count += 1) await bus.publish({ topic: "a", body: large, fence: 0 });
    await bus.publish({ topic: "a", body: "end", fence: 0 });
    await listener.until("end");
    expect(listener.seen.slice(0, 1200)).toEqual(Array.from({ length: 1200 }, (_, body) => body));
    expect(listener.seen.slice(1200)).toEqual([...Array.from({ length: 12 }, () => large), "end"]);
    await bus.close();
  });

  it("reports a gap for a row that is not JSON, and delivers what follows", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime });
    const listener = await listenTo(bus, "a");
    await database.query("insert into topics values ('a', 1, 0)");
    await database.query("insert into changes values ('a', 1, 0, '{')");
    await bus.publish({ topic: "a", body: 2, fence: 0 });
    await vi.waitFor(() => expect(listener.seen).toEqual(["gap", 2]));
    await database.query("select pg_notify($1, 'a x')", [`${database.schema}_bus`]);
    await bus.publish({ topic: "a", body: 3, fence: 0 });
    await vi.waitFor(() => expect(listener.seen).toEqual(["gap", 2, 3]));
    await vi.waitFor(() => expect(bus.status).toMatchObject({ isConnected: true, lag: 0 }));
    await bus.close();
  });

  it("finds messages whose notification was missed", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime, pollMs: 20 });
    const listener = await listenTo(bus, "a");
    await database.transaction(async (sql) => {
      await sql.query("insert into topics values ('a', 1, 0)");
      await sql.query("insert into changes values ('a', 1, 0, '\"without notification\"')");
    });
    await listener.until("without notification");
    await bus.close();
  });

  it("is connected again after a failed publish, also if nothing is published since", async () => {
    const database = await prepare();
    const prunes = new EventEmitter();
    const runtime: Runtime = {
      ...test.runtime,
      wait: (ms, signal) =>
        ms === 30_000
          ? Promise.race([test.runtime.wait(ms, signal), once(prunes, "next").then(() => undefined)])
          : test.runtime.wait(ms, signal),
    };
    const bus = createPostgresBus({ database, runtime });
    await test.server().stop("immediate");
    await expect(bus.publish({ topic: "a", body: 1, fence: 0 })).rejects.toThrow(/database/);
    expect(bus.status.isConnected).toBe(false);
    await test.server().start();
    await vi.waitFor(
      () => {
        prunes.emit("next");
        expect(bus.status.isConnected).toBe(true);
      },
      { timeout: 30_000 },
    );
    await bus.close();
  });

  it("reports a gap when the database was restored from a backup", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime, pollMs: 20 });
    for (let body = 0; body < 5; body += 1) await bus.publish({ topic: "a", body, fence: 0 });
    const listener = await listenTo(bus, "a");
    await database.transaction(async (sql) => {
      await sql.query("update topics set last = 2");
      await sql.query("delete from changes where seq > 2");
    });
    await listener.untilGap();
    await bus.publish({ topic: "a", body: "continued", fence: 0 });
    await listener.until("continued");
    expect(listener.seen).toEqual(["gap", "continued"]);
    await bus.close();
  });

  it("reports a gap when the numbers of lost messages were used again before it could read them", async () => {
    const database = await prepare();
    const bus = createPostgresBus({ database, runtime: test.runtime, pollMs: 600_000 });
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    const listener = await listenTo(bus, "a");
    const restore = await saveContents(database);
    for (const body of ["lost", "also lost"]) await bus.publish({ topic: "a", body, fence: 0 });
    await listener.until("also lost");
    await restore();
    // Without notifications, as if this instance connected later.
    await database.query("update topics set last = 4");
    await database.query("insert into changes select 'a', seq, 0, '\"missed\"' from generate_series(2, 4) seq");
    await bus.publish({ topic: "a", body: "next", fence: 0 });
    await listener.untilGap();
    await bus.publish({ topic: "a", body: "end", fence: 0 });
    await listener.until("end");
    expect(listener.seen).toEqual(["lost", "also lost", "gap", "end"]);
    await bus.close();
  });
});

async function countOf(database: SharedDatabase): Promise<number> {
  const [row] = await database.query<{ count: number }>("select count(*) from changes");
  return Number(row?.count);
}
