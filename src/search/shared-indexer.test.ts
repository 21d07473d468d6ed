/** The indexers of several instances on one real PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../sources/memory.ts";
import type { SharedDatabase } from "../state/database.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresLeases } from "../state/postgres-leases.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { openPostgresIndexStore } from "./postgres/postgres-index-store.ts";
import { searchMigrations } from "./postgres/tables.ts";
import { createSharedIndexer, indexLease, type SharedIndexWriter } from "./shared-indexer.ts";
import { createSharedSearcher } from "./shared-searcher.ts";
import type { IndexStatus, MountStatus } from "./status.ts";

const test = useDatabase();
const signal = new AbortController().signal;

const isComplete = ({ ready }: MountStatus): boolean => ready === 1;
const paths = ({ hits }: { readonly hits: readonly { readonly entry: { readonly path: string } }[] }) =>
  hits.map(({ entry }) => entry.path);

describe.skipIf(test.missing)("the indexers of several instances", () => {
  let database: SharedDatabase;
  let opened: { close(): Promise<void> }[];
  beforeEach(async () => {
    database = test.open();
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    opened = [];
  });
  afterEach(async () => {
    for (const each of opened.toReversed()) await each.close();
  });

  /** One instance with its own connections. `writes` gets the names of methods that it calls on the index. */
  function createInstance(name: string, texts: Readonly<Record<string, string>>, key = "k1") {
    const own = test.open();
    const { runtime } = test;
    const leases = createPostgresLeases({
      database: own,
      instance: name,
      runtime,
      ttlMs: 1500,
      renewMs: 300,
      pollMs: 100,
    });
    const records = createPostgresStore({ database: own, runtime });
    const waiting = new Set<{ readonly isMet: (mount: MountStatus) => boolean; readonly resolve: () => void }>();
    const writers: SharedIndexWriter[] = [];
    const memory = createMemory(texts);
    let last: IndexStatus | undefined;
    const indexer = createSharedIndexer({
      runtime,
      leases,
      records,
      maxFileBytes: 10_000,
      openWriter({ name: lease, fence }) {
        const writer = openPostgresIndexStore({ database: own, fence: { name: lease, fence } });
        writers.push(writer);
        return writer;
      },
      open: async () => memory.source,
      follow: async () => undefined,
      tell(status) {
        last = status;
        const [mount] = status.mounts;
        for (const each of waiting) if (mount && each.isMet(mount)) each.resolve();
      },
    });
    indexer.serve([{ name: "docs", key, isWatched: true }]);
    const searcher = createSharedSearcher({ index: openPostgresIndexStore({ database: own }), records });
    const instance = {
      indexer,
      leases,
      memory,
      writers,
      status: () => last,
      until: (isMet: (mount: MountStatus) => boolean) =>
        new Promise<void>((resolve) => waiting.add({ isMet, resolve })),
      async find(text: string) {
        const mounts = [{ name: "docs", key }];
        return searcher.search({ text, limit: 10, mounts, withStatus: true }, signal);
      },
      async close() {
        await indexer.close();
        await leases.close();
        await records.close();
      },
    };
    opened.push(instance);
    return instance;
  }

  it("index a mount once, and all of them search it and know its status", async () => {
    const one = createInstance("one", { "a.md": "green tea", "b.md": "緑茶の入れ方" });
    await one.until(isComplete);
    const two = createInstance("two", { "a.md": "green tea", "b.md": "緑茶の入れ方" });
    await two.until(isComplete);
    const found = await two.find("緑茶");
    expect(paths(found)).toEqual(["b.md"]);
    expect(found.status?.mounts).toMatchObject([{ name: "docs", state: "complete", documents: 2, ready: 1 }]);
    expect(two.writers).toEqual([]);
  });

  it("continue with another instance when the one that indexes has gone", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    const two = createInstance("two", { "a.md": "green tea", "b.md": "black tea" });
    await one.indexer.close();
    await two.until(({ documents, ready }) => documents === 2 && ready === 1);
    expect(paths(await two.find("black"))).toEqual(["b.md"]);
  });

  it("claim nothing of a mount that no instance indexes", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    await one.indexer.close();
    await database.query("delete from records where kind = 'index-status'");
    const { hits, status } = await one.find("tea");
    expect(hits).toHaveLength(1);
    expect(status?.mounts).toMatchObject([{ state: "waiting", ready: 0 }]);
  });

  it("let an instance write no more once another has the lease", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    const [writer] = one.writers;
    // As if the instance had been paused until its lease expired.
    await database.query("update leases set fence = fence + 1, holder = 'other' where name = $1", [indexLease("docs")]);
    await expect(writer!.put([{ mount: "docs", entry: { path: "late.md" }, text: "late" }])).rejects.toMatchObject({
      kind: "denied",
    });
    one.memory.set("c.md", "white tea");
    one.indexer.hear("docs", [{ kind: "appeared", path: "c.md" }]);
    expect(paths(await one.find("late white"))).toEqual([]);
  });

  it("let an instance give up a mount whose index a newer version has started again", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    await database.query("update search_about set version = '99/99'");
    one.memory.set("b.md", "black tea");
    one.indexer.hear("docs", [{ kind: "appeared", path: "b.md" }]);
    const other = createPostgresLeases({ database, instance: "newer", runtime: test.runtime, pollMs: 20 });
    await other.acquire(indexLease("docs"), signal);
    await other.close();
  });

  it("leave out a mount of the same name with another content", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    const two = createInstance("two", { "b.md": "coffee" }, "k2");
    const { hits, status } = await two.find("tea");
    expect({ hits, mounts: status?.mounts }).toEqual({ hits: [], mounts: [] });
    await one.indexer.close();
    await two.until(({ key, ready }) => key === "k2" && ready === 1);
    expect(paths(await two.find("tea coffee"))).toEqual(["b.md"]);
  });
});
