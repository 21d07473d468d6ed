import { describe, expect, it } from "vitest";
import { keyNote } from "../../search/indexer.ts";
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { searchMigrations } from "../../search/postgres/tables.ts";
import { removingVersion } from "../../search/postgres/version.ts";
import type { SearchQuestion } from "../../search/searcher.ts";
import type { SharedDatabase } from "../../state/database.ts";
import { migrate } from "../../state/migrate.ts";
import { createPostgresLeases } from "../../state/postgres-leases.ts";
import { createPostgresStore } from "../../state/postgres-store.ts";
import type { SharedState } from "../../state/shared-state.ts";
import { stateMigrations } from "../../state/tables.ts";
import { failureOf, useDatabase } from "../../state/test-database.ts";
import { createSharedSearcherClient } from "./shared-searcher-client.ts";

const test = useDatabase();
const signal = new AbortController().signal;

interface Interruptions {
  /** Called before the transaction of each search. */
  readonly beforeSearch?: () => unknown;
  /** Called before each of its statements. */
  readonly beforeStatement?: (text: string) => unknown;
}

/** An index with one document, and a searcher beside it. */
async function openIndex({ beforeSearch, beforeStatement }: Interruptions = {}) {
  const database = test.open();
  await migrate(database, [...stateMigrations, ...searchMigrations]);
  const index = openPostgresIndexStore({ database });
  await index.put([{ mount: "docs", entry: { path: "a" }, text: "tea" }]);
  await index.setNote(keyNote("docs"), "k1");
  const store = createPostgresStore({ database, runtime: test.runtime });
  const watched: SharedDatabase = {
    ...database,
    pool: database.pool,
    async snapshot(work, until) {
      await beforeSearch?.();
      return database.snapshot(
        (sql) =>
          work({
            async query(text, values) {
              await beforeStatement?.(text);
              return sql.query(text, values);
            },
          }),
        until,
      );
    },
  };
  const { search } = createSharedSearcherClient({ database: watched, store } as SharedState);
  return {
    database,
    index,
    search: (more: Partial<SearchQuestion> = {}) => search({ ...question, ...more }, signal),
    close: () => store.close(),
  };
}

const question: SearchQuestion = { text: "tea", limit: 5, mounts: [{ name: "docs", key: "k1" }], withStatus: true };

async function refusalOf(search: Promise<unknown>): Promise<readonly unknown[]> {
  const { kind, passing, message } = await failureOf(search);
  return [kind, passing, message];
}

describe.skipIf(test.missing)("a search of a shared index", () => {
  it("says that a mount was removed meanwhile, and finds the others when it is repeated", async () => {
    let isRemoved = false;
    const { index, search, close } = await openIndex({
      async beforeStatement(text) {
        if (isRemoved || !text.includes("search_passages_")) return;
        isRemoved = true;
        await index.removeBelow("docs", "");
      },
    });
    await index.put([{ mount: "other", entry: { path: "b" }, text: "tea" }]);
    await index.setNote(keyNote("other"), "k1");
    const mounts = ["docs", "other"].map((name) => ({ name, key: "k1" }));
    expect(await refusalOf(search({ mounts }))).toEqual([
      "unavailable",
      true,
      "a mount was removed from the shared search index during this search; search again",
    ]);
    expect((await search({ mounts })).hits.map(({ entry }) => entry.path)).toEqual(["b"]);
    await close();
  });

  it("says that the database was restored meanwhile", async () => {
    const { database, search, close } = await openIndex({
      // Gives the table another file, as a restore does.
      beforeSearch: () => database.query("alter table search_about set unlogged"),
    });
    const { file = "", undecided } = await search({ viewers: { key: "v" } });
    const { id } = undecided!.documents.at(-1)!;
    const decided = { file, after: 0, again: false, last: id, visible: [id], postponed: [] };
    expect(await refusalOf(search({ viewers: { key: "v", decided } }))).toEqual([
      "unavailable",
      true,
      "the shared database was started again or restored during this search; search again",
    ]);
    await close();
  });

  it("tells a caller not to check the database that fails", async () => {
    const { database, search, close } = await openIndex();
    await database.query("drop table search_terms cascade");
    expect(await refusalOf(search())).toEqual([
      "unavailable",
      false,
      "the database of this server cannot be used; its operator finds the reason in the log",
    ]);
    await close();
  });

  it.each([
    [removingVersion, "the shared search index of an older version is being removed, and then built again"],
    ["99/99", "the shared search index was made by another version of Pressmark or Node"],
    ["0/1", "the shared search index was made by another version of Pressmark or Node"],
  ])("is refused while the index has the version %s", async (version, message) => {
    const { database, search, close } = await openIndex();
    await database.query("update search_about set version = $1", [version]);
    for (const viewers of [undefined, { key: "v" }])
      expect(await refusalOf(search({ viewers }))).toEqual(["unavailable", true, expect.stringContaining(message)]);
    await close();
  });

  it("finds nothing of a mount that is not indexed yet", async () => {
    const { database, search, close } = await openIndex();
    for (const viewers of [undefined, { key: "v" }])
      expect(await search({ mounts: [{ name: "docs", key: "k2" }], viewers })).toMatchObject({ hits: [] });
    await database.query("delete from search_notes");
    expect(await search()).toMatchObject({ hits: [] });
    await close();
  });
});

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
    const found = await test.open().transaction(async (sql) => {
      // Every search waits for this table.
      await sql.query("lock table search_mounts in access exclusive mode");
      const searches = Array.from({ length: 8 }, () => search({ ...question, withStatus: false }, signal));
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
