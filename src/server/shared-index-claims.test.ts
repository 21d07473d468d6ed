/** Results of the shared index, on a real PostgreSQL, do not claim to be complete while known changes are not indexed. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Call } from "../resources.ts";
import { searchMigrations } from "../search/postgres/tables.ts";
import type { SourceDefinition } from "../source.ts";
import file from "../sources/file.ts";
import { createMemoryBus } from "../state/memory-bus.ts";
import { migrate } from "../state/migrate.ts";
import { createPostgresStore } from "../state/postgres-store.ts";
import type { SharedState } from "../state/shared-state.ts";
import { stateMigrations } from "../state/tables.ts";
import { useDatabase } from "../state/test-database.ts";
import { openServer, type OpenServerOptions, type Server } from "./open-server.ts";
import { createServerIndex } from "./server-index.ts";

const test = useDatabase();
const patience = { timeout: 30_000 };

let root: string;
let folder: string;
let call: Call;
let stop: AbortController;
let opened: { close(): Promise<void> }[];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-claims-")));
  folder = join(root, "project", "docs");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.md"), "green tea");
  stop = new AbortController();
  call = { caller: { id: "test" }, signal: stop.signal };
  opened = [];
});

afterEach(async () => {
  stop.abort();
  for (const each of opened.toReversed()) await each.close();
  rmSync(root, { recursive: true, force: true });
});

/** An instance on a machine of its own. */
async function openInstance(machine: string): Promise<Server> {
  const at = join(root, machine);
  const env = { HOME: at, XDG_CACHE_HOME: join(at, "cache"), XDG_STATE_HOME: join(at, "state") };
  const err = { write: () => true } as unknown as OpenServerOptions["err"];
  const server = await openServer({
    folders: [],
    config: "team.yaml",
    from: join(root, "project"),
    env,
    err,
    live: true,
  });
  opened.push(server);
  return server;
}

/** Its share of the mount, and the URIs and snippets of what it shows. */
async function find({ resources }: Server, text: string): Promise<unknown> {
  const { ready, hits } = await resources.search({ text, limit: 10 }, call);
  return { isWhole: ready === 1, shown: hits.map(({ snippet }) => snippet) };
}

/** The index of an instance, without a server, whose bus can be away. */
async function openIndex() {
  const database = test.open();
  const { runtime } = test;
  await migrate(database, [...stateMigrations, ...searchMigrations]);
  const store = createPostgresStore({ database, runtime });
  const memory = createMemoryBus(runtime);
  let isAway = false;
  const bus = {
    ...memory,
    get status() {
      return { ...memory.status, isConnected: !isAway };
    },
  };
  const index = createServerIndex({
    cacheFolder: root,
    project: { folders: ["docs"] },
    runtime,
    live: true,
    shared: { state: { instance: "1", database, store, bus } as unknown as SharedState, url: test.url() },
  });
  const options = { root: folder, maxBytes: 1_000_000 };
  const source = await file.open(options, runtime);
  const { watch: _, ...unwatched } = source;
  const mount = { source, definition: file as SourceDefinition, options };
  index.serve(
    [
      { ...mount, name: "docs" },
      { ...mount, name: "unwatched", source: unwatched, onMainThread: true },
    ],
    {},
  );
  opened.push({ close: async () => void (await source.close?.()) }, store, index);
  await index.caughtUp(call);
  return { index, database, setAway: (value: boolean) => void (isAway = value) };
}

const readyOf = ({ ready }: ReturnType<typeof createServerIndex>) => [ready("docs"), ready("unwatched")];

async function publishedStatus(): Promise<unknown> {
  const [row] = await test
    .open()
    .query<{ value: unknown }>("select value from records where kind = 'index-status' and key = 'docs'");
  return row?.value;
}

describe.skipIf(test.missing)("a result of the shared index", () => {
  it("does not claim to be complete, on any instance, while a change cannot be announced", async () => {
    const settings = { server: { state: test.url() }, mounts: { docs: { source: "file", root: "docs" } } };
    writeFileSync(join(root, "project", "team.yaml"), JSON.stringify(settings));
    const whole = { isWhole: true, shown: [expect.stringContaining("green tea")] };
    const instances = [await openInstance("one")];
    await expect.poll(() => find(instances[0]!, "tea"), patience).toEqual(whole);
    instances.push(await openInstance("two"));
    await expect.poll(() => find(instances[1]!, "tea"), patience).toEqual(whole);
    const database = test.open();
    // Nothing can be published on the bus.
    await database.query("alter table changes rename to changes_away");
    rmSync(join(folder, "a.md"));
    for (const each of instances)
      await expect.poll(() => find(each, "tea"), patience).toEqual({ isWhole: false, shown: [] });
    await database.query("alter table changes_away rename to changes");
    for (const each of instances)
      await expect.poll(() => find(each, "tea"), patience).toEqual({ isWhole: true, shown: [] });
  }, 120_000);

  it("does not claim to be complete while the bus is away, unless the mount needs no bus", async () => {
    const { index, setAway } = await openIndex();
    expect(readyOf(index)).toEqual([1, 1]);
    setAway(true);
    expect(readyOf(index)).toEqual([0.5, 1]);
    expect(index.status?.mounts[0]).toMatchObject({ state: "indexing", pending: 1, documents: 1 });
    expect(Object.keys(index.status!.mounts[0]!)).not.toContain("unsent");
    // The published status has it, and it is not counted twice.
    await expect.poll(publishedStatus, patience).toMatchObject({ status: { pending: 1, unsent: 1, ready: 0.5 } });
    await index.search({ text: "tea", limit: 1 }, call.signal);
    expect(index.status?.mounts[0]).toMatchObject({ pending: 1 });
    setAway(false);
    await expect.poll(() => readyOf(index), patience).toEqual([1, 1]);
  }, 60_000);

  it("does not claim to be complete while the published status lacks a change", async () => {
    const { index } = await openIndex();
    await test.open().transaction(async (sql) => {
      // The status cannot be published.
      await sql.query("lock table records in exclusive mode");
      writeFileSync(join(folder, "b.md"), "black tea");
      const found = async (): Promise<string[]> =>
        (await index.search({ text: "black", limit: 5, mounts: ["docs"] }, call.signal)).map(({ entry }) => entry.path);
      await expect.poll(found, patience).toEqual(["b.md"]);
      expect(index.ready("docs")).toBeLessThan(1);
    });
    await expect.poll(() => index.ready("docs"), patience).toBe(1);
    expect(index.status?.mounts[0]).toMatchObject({ documents: 2, pending: 0 });
  }, 60_000);
});
