import { describe, expect, it } from "vitest";
import { indexLease } from "../search/index-lease.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresLeases } from "../state/postgres-leases.ts";
import type { SharedState } from "../state/shared-state.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { sharedFigures, sharedText } from "./shared-metrics.ts";

const test = useDatabase();
const status = { engine: "nats", isConnected: true, lag: 0, gaps: 0, published: 0, received: 0 } as const;

describe.skipIf(test.missing)("the figures of leases", () => {
  it("count as without a leader only what this instance needs and the holder did not release", async () => {
    const database = test.open();
    await migrate(database, stateMigrations);
    const { runtime } = test;
    const stop = new AbortController();
    const other = createPostgresLeases({ database, instance: "other", runtime });
    const own = createPostgresLeases({ database, instance: "own", runtime });
    const shared = { instance: "own", bus: { status }, leases: own, database } as unknown as SharedState;
    const expired = async () => {
      const text = sharedText(await sharedFigures(shared, ["docs", "released"], runtime));
      return Number(/^pressmark_leases_expired (\d+)$/m.exec(text)?.[1]);
    };
    const names = ["watch:docs", "watch:unneeded", "cache:gdrive:1", indexLease("docs"), indexLease("removed")];
    for (const name of names) await other.tryAcquire(name);
    await (await other.tryAcquire(indexLease("released")))?.release();
    const waiting = own.acquire("watch:docs", stop.signal).catch(() => undefined);
    expect(await expired()).toBe(0);
    // Its instance was killed, and none can acquire leases.
    await database.query("alter table leases add check (expires = '-infinity' or holder <> 'own') not valid");
    await database.query(
      "update leases set expires = clock_timestamp() - interval '1 minute', holder = 'gone' where expires <> '-infinity'",
    );
    expect(await expired()).toBe(2);
    stop.abort();
    await waiting;
    expect(await expired()).toBe(1);
    await Promise.all([own.close(), other.close()]);
  });
});
