import { beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../errors.ts";
import { openPostgresIndexStore } from "../search/postgres/postgres-index-store.ts";
import { searchMigrations } from "../search/postgres/tables.ts";
import { createSharedIndexer } from "../search/shared-indexer.ts";
import { readPublished } from "../search/shared-status.ts";
import { createMemory } from "../sources/memory.ts";
import type { SharedDatabase } from "../state/database.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresLeases } from "../state/postgres-leases.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { examineSharedIndex } from "./examine-shared-index.ts";

const test = useDatabase();

describe.skipIf(test.missing)("a shared index that is examined", () => {
  let database: SharedDatabase;
  beforeEach(() => {
    database = test.open();
  });

  it("says how far each mount is indexed, and why not further", async () => {
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    const { runtime } = test;
    const store = createPostgresStore({ database, runtime });
    const leases = createPostgresLeases({ database, instance: "1", runtime });
    const memory = createMemory({ a: "tea", b: "kettle" });
    const indexer = createSharedIndexer({
      instance: "1",
      runtime,
      leases,
      records: store,
      maxFileBytes: 10_000,
      openWriter: (fence) => openPostgresIndexStore({ database, fence }),
      async open(mount) {
        if (mount === "away") throw unavailable("no disk is mounted");
        return memory.source;
      },
      follow: async () => undefined,
      tell: () => undefined,
    });
    const examine = (...names: string[]) => examineSharedIndex({ database, store }, names);
    const where = `in the shared database, schema ${database.schema}`;
    expect(await examine("docs")).toEqual({
      about: "index",
      state: "ok",
      says: `${where}: 0 of 1 mounts complete, 0 documents\ndocs: no running instance indexes it`,
    });
    indexer.serve(["docs", "away"].map((name) => ({ name, key: "k1", isWatched: true })));
    const stateOf = async (name: string) => (await readPublished(store)).find((each) => each.name === name)?.state;
    await expect.poll(() => stateOf("docs"), { timeout: 30_000 }).toBe("complete");
    await expect.poll(() => stateOf("away"), { timeout: 30_000 }).toBe("failing");
    expect(await examine("docs")).toEqual({
      about: "index",
      state: "ok",
      says: `${where}: 1 of 1 mounts complete, 2 documents`,
    });
    expect(await examine("docs", "away")).toMatchObject({
      state: "hint",
      says: `${where}: 1 of 2 mounts complete, 2 documents\naway: failing, 0 %: no disk is mounted`,
    });
    await indexer.close();
    await leases.close();
    await store.close();
  });

  it("is broken only if a table is gone, not before the first instance creates them", async () => {
    const store = createPostgresStore({ database, runtime: test.runtime });
    const examine = () => examineSharedIndex({ database, store }, ["docs"]);
    expect(await examine()).toEqual({
      about: "index",
      state: "ok",
      says: "in the shared database; the first instance creates its tables",
    });
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    await database.query("drop table search_mounts");
    expect(await examine()).toMatchObject({ about: "index", state: "broken" });
    await store.close();
  });
});
