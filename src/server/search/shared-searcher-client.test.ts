import { describe, expect, it } from "vitest";
import { keyNote } from "../../search/indexer.ts";
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { searchMigrations } from "../../search/postgres/tables.ts";
import { migrate } from "../../state/migrate.ts";
import { createPostgresLeases } from "../../state/postgres-leases.ts";
import { createPostgresStore } from "../../state/postgres-store.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { stateMigrations } from "../../state/tables.ts";
import { useDatabase } from "../../state/test-database.ts";
import { createSharedSearcherClient } from "./shared-searcher-client.ts";

const test = useDatabase();
const signal = new AbortController().signal;

describe.skipIf(test.missing)("searches of a shared index", () => {
  it("leave connections to leases and tokens, however slow they are", async () => {
    const database = test.open();
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    const index = openPostgresIndexStore({ database: test.open() });
    await index.put([{ mount: "docs", entry: { path: "a" }, text: "tea" }]);
    await index.setNote(keyNote("docs"), "k1");
    const store = createPostgresStore({ database, runtime: test.runtime });
    const leases = createPostgresLeases({ database, instance: "1", runtime: test.runtime });
    const { search } = createSharedSearcherClient({ database, store, leases } as SharedState);
    const question = { text: "tea", limit: 5, mounts: [{ name: "docs", key: "k1" }], withStatus: false };
    const found = await test.open().transaction(async (sql) => {
      // Every search waits for this table.
      await sql.query("lock table search_mounts in access exclusive mode");
      const searches = Array.from({ length: 8 }, () => search(question, signal));
      await expect
        .poll(() =>
          sql.query(
            "select count(*)::integer as waiting from pg_locks where not granted and relation = 'search_mounts'::regclass",
          ),
        )
        .toEqual([{ waiting: 3 }]);
      const lease = await leases.acquire("watch:docs", signal);
      expect(await store.get("tokens", "none")).toBeUndefined();
      expect(database.pool.waiting).toBe(0);
      await lease.release();
      return { searches };
    });
    for (const each of found.searches) expect((await each).hits).toHaveLength(1);
    await leases.close();
    await store.close();
  });
});
