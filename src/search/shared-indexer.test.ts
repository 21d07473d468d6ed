/** The indexers of several instances on one real PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../errors.ts";
import type { Source } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import type { SharedDatabase } from "../state/database.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresLeases } from "../state/postgres-leases.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { readNamedMounts } from "./named-mounts.ts";
import { openPostgresIndexStore } from "./postgres/postgres-index-store.ts";
import { searchMigrations } from "./postgres/tables.ts";
import { indexLease } from "./index-lease.ts";
import { createSharedIndexer, type SharedIndexWriter } from "./shared-indexer.ts";
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
    let failure: Error | undefined;
    const failing = <Method extends keyof Source>(method: Method): Source[Method] =>
      ((...values: unknown[]) => {
        if (failure) throw failure;
        return (memory.source[method] as (...all: unknown[]) => unknown)(...values);
      }) as Source[Method];
    const source = { ...memory.source, list: failing("list"), read: failing("read"), stat: failing("stat") };
    // Pauses after a failure take seconds.
    const impatient: typeof runtime = { ...runtime, wait: (ms, until) => runtime.wait(Math.min(ms, 500), until) };
    const indexer = createSharedIndexer({
      instance: name,
      runtime: impatient,
      leases,
      records,
      maxFileBytes: 10_000,
      openWriter(fence) {
        const writer = openPostgresIndexStore({ database: own, fence });
        writers.push(writer);
        return writer;
      },
      open: async () => source,
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
      /** Undefined: the source can be read again. */
      breakSource: (cause: Error | undefined) => void (failure = cause),
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

  it("let another instance index a mount that the first one cannot read", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    one.breakSource(unavailable("the disk of this machine is not mounted"));
    await one.until(({ state }) => state === "failing");
    const two = createInstance("two", { "a.md": "green tea" });
    await Promise.all([one.until(isComplete), two.until(isComplete)]);
    expect(paths(await one.find("tea"))).toEqual(["a.md"]);
  });

  it("say that a mount fails while none can read it, and why, and continue once one can", async () => {
    const instances = [createInstance("one", { "a.md": "green tea" }), createInstance("two", { "a.md": "green tea" })];
    for (const each of instances) each.breakSource(unavailable("no disk is mounted"));
    await Promise.all(
      instances.map((each) =>
        each.until(({ state, lastError }) => state === "failing" && lastError === "no disk is mounted"),
      ),
    );
    await expect.poll(() => instances.every(({ writers }) => writers.length > 1), { timeout: 30_000 }).toBe(true);
    const seen = new Set<string>();
    await instances[0]!.until(({ state }) => seen.add(state).size > 0 && instances[0]!.writers.length > 3);
    expect([...seen]).toEqual(["failing"]);
    instances[1]!.breakSource(undefined);
    await instances[0]!.until(isComplete);
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

  it("claim nothing of an index that an instance of another version confirms", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    await one.indexer.close();
    await database.query(
      "update records set value = jsonb_set(value::jsonb, '{version}', '\"0/1\"')::json where kind = 'index-status'",
    );
    expect((await one.find("tea")).status?.mounts).toMatchObject([{ state: "waiting", ready: 0 }]);
  });

  it("tell callers that the database fails, and the operator why", async () => {
    const one = createInstance("one", { "a.md": "green tea" });
    await one.until(isComplete);
    const operatorOnly = "the database of this server cannot be used; its operator finds the reason in the log";
    await database.query("alter table search_documents rename to search_documents_away");
    one.indexer.hear("docs", [{ kind: "changed", path: "a.md" }]);
    await one.until(({ state, lastError }) => state === "failing" && lastError === operatorOnly);
    await database.query("alter table records rename to records_away");
    await expect.poll(() => one.status()?.problem?.message).toBe(`the shared index is unavailable: ${operatorOnly}`);
    await database.query("alter table records_away rename to records");
    await database.query("alter table search_documents_away rename to search_documents");
    await one.until(isComplete);
    expect(one.status()?.problem).toBeUndefined();
    for (const message of ["the shared index cannot be used to index a mount", "the status of the shared index"])
      expect(test.logged.filter((line) => line.includes(message)).join()).toContain('run "pressmark migrate"');
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

  it("name their mounts for as long as they run, also those that are left out for now", async () => {
    const one = createInstance("one", {});
    const two = createInstance("two", {});
    const records = createPostgresStore({ database, runtime: test.runtime });
    opened.push(records);
    two.indexer.serve([{ name: "other", key: "k1", isWatched: true }], ["absent"]);
    await expect.poll(() => readNamedMounts(records)).toEqual(new Set(["docs", "other", "absent"]));
    await one.indexer.close();
    expect(await readNamedMounts(records)).toEqual(new Set(["other", "absent"]));
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
