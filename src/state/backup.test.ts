/** Backup and restore of the shared state on a real PostgreSQL. */
import { afterEach, describe, expect, it } from "vitest";
import { restoreBackup, writeBackup } from "./backup.ts";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { RecordValue, Store } from "./store.ts";
import { stateMigrations } from "./tables.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const { missing, open, url, runtime } = useDatabase();
const stores: Store[] = [];
const facts = { pressmark: "1.0.0", made: "2026-11-18T00:00:00Z" };

afterEach(async () => {
  await Promise.all(stores.splice(0).map((each) => each.close()));
});

async function opened(suffix = ""): Promise<{ readonly database: SharedDatabase; readonly store: Store }> {
  const database = open({ url: `${url()}${suffix}` });
  await migrate(database, stateMigrations);
  const store = createPostgresStore({ database, runtime });
  stores.push(store);
  return { database, store };
}

async function backupOf(database: SharedDatabase): Promise<string[]> {
  const lines: string[] = [];
  await writeBackup(database, async (line) => void lines.push(line.replace(/\n$/, "")), facts);
  return lines;
}

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function entriesOf(store: Store): Promise<RecordValue[]> {
  const entries: RecordValue[] = [];
  for await (const entry of store.read("audit")) entries.push(entry);
  return entries;
}

async function fill(store: Store): Promise<void> {
  for (let n = 0; n < 3; n += 1) await store.put("tokens", `k${n}`, { n, text: "line\nend \u0000 \ud800 🦊" });
  await store.put("sessions", "s", { n: 1 }, { expiresInMs: 3_600_000 });
  await store.put("sessions", "gone", { n: 1 }, { expiresInMs: 1 });
  await expect.poll(() => store.get("sessions", "gone")).toBeUndefined();
  // More than one page.
  await store.append(
    "audit",
    Array.from({ length: 1100 }, (_each, n) => ({ n })),
  );
}

function keepKey({ key }: RecordValue, restored: RecordValue | undefined): RecordValue {
  return { clients: restored?.["clients"], key };
}

describe.skipIf(missing)("a backup", () => {
  it("restores every record and entry, in order, into an empty schema", async () => {
    const { database, store } = await opened();
    await fill(store);
    const lines = await backupOf(database);
    expect(JSON.parse(lines[0] ?? "")).toEqual({ format: "pressmark-backup", version: 1, ...facts });
    const target = await opened("_target");
    expect(await restoreBackup(target.database, from(lines))).toEqual({ records: 4, entries: 1100 });
    for (const kind of ["tokens", "sessions"]) {
      const plain = async (each: Store) => (await each.list(kind)).map(({ key, value }) => [key, value]);
      expect(await plain(target.store)).toEqual(await plain(store));
    }
    expect(await entriesOf(target.store)).toEqual(await entriesOf(store));
    const [row] = await target.database.query<{ n: number }>(
      "select count(*) as n from records where expires is not null",
    );
    expect(row?.n).toBe(1);
    expect((await backupOf(target.database)).slice(0, -1)).toEqual(lines.slice(0, -1));
  });

  it("contains no caches, which are filled again", async () => {
    const { database, store } = await opened();
    await store.put("cache:gdrive", "k", { secret: "title" });
    await store.put("tokens", "k", { n: 1 });
    const lines = await backupOf(database);
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toContain("title");
  });

  it("replaces what is there only if told so, and tells running instances", async () => {
    const { database, store } = await opened();
    await store.put("tokens", "old", { n: 0 });
    const lines = await backupOf(database);
    await store.put("tokens", "new", { n: 1 });
    await store.put("sets", "new", { n: 1 });
    expect((await failureOf(restoreBackup(database, from(lines)))).message).toMatch(/3 records .*; add --replace/);
    const told = new Set<string>();
    for (const kind of ["tokens", "sets"])
      await store.follow(kind, () => void told.add(kind), new AbortController().signal);
    await restoreBackup(database, from(lines), { replace: true });
    expect((await store.list("tokens")).map(({ key }) => key)).toEqual(["old"]);
    await expect.poll(() => [...told].sort()).toEqual(["sets", "tokens"]);
  });

  it("leaves records that running instances do not read again", async () => {
    const { database, store } = await opened();
    await store.put("keys", "cursor", { key: "old" });
    await store.put("keys", "other", { key: "old" });
    const lines = await backupOf(database);
    await store.put("keys", "cursor", { key: "new" });
    await store.remove("keys", "other");
    await restoreBackup(database, from(lines), { replace: true, keep: ["keys"] });
    expect((await store.list("keys")).map(({ key, value }) => [key, value["key"]])).toEqual([
      ["cursor", "new"],
      ["other", "old"],
    ]);
  });

  it("merges records of which running instances keep a part, also one that the backup lacks", async () => {
    const { database, store } = await opened();
    await store.put("oauth", "state", { key: "old", clients: "old" });
    const lines = await backupOf(database);
    for (const kind of ["oauth", "other"]) await store.put(kind, "state", { key: "new", clients: "new" });
    const merges = ["oauth", "other", "neither"].map((kind) => ({ kind, key: "state", merge: keepKey }));
    await restoreBackup(database, from(lines), { replace: true, merges });
    const values = await Promise.all(["oauth", "other", "neither"].map((kind) => store.get(kind, "state")));
    expect(values.map((each) => each?.value)).toEqual([{ clients: "old", key: "new" }, { key: "new" }, undefined]);
  });

  it("lets instances write until all of it is read", async () => {
    const { database, store } = await opened();
    await fill(store);
    const lines = await backupOf(database);
    async function* slowly(): AsyncGenerator<string> {
      yield* lines.slice(0, -1);
      await store.put("tokens", "meanwhile", { n: 1 });
      await store.append("audit", [{ n: "meanwhile" }]);
      yield lines.at(-1) ?? "";
    }
    await restoreBackup(database, slowly(), { replace: true });
    expect((await store.list("tokens")).map(({ key }) => key)).toEqual(["k0", "k1", "k2"]);
    expect(await entriesOf(store)).toHaveLength(1100);
    const tables = await database.query("select from pg_tables where schemaname = $1 and tablename ~ 'restored'", [
      database.schema,
    ]);
    expect(tables).toHaveLength(0);
  });

  it.each<readonly [string, (lines: string[]) => string[], RegExp]>([
    ["is cut", (lines) => lines.slice(0, -1), /its end is missing/],
    ["lacks a line", (lines) => lines.toSpliced(2, 1), /its checksum does not match/],
    ["was changed", (lines) => lines.map((line) => line.replace('"n":1}', '"n":7}')), /its checksum does not match/],
    ["has more after its end", (lines) => [...lines, lines[1] ?? ""], /follows its end/],
    ["is broken", (lines) => lines.with(3, "{"), /line 4 is not JSON/],
    ["has an unknown line", (lines) => lines.with(3, "{}"), /line 4 is unknown/],
    ["is something else", () => ["hello"], /not a backup of Pressmark/],
    ["is of a later version", (lines) => lines.with(0, '{"format":"pressmark-backup","version":2}'), /newer version/],
    ["is empty", () => [], /its end is missing/],
  ])("that %s changes nothing, even with replace", async (_what, change, message) => {
    const { database, store } = await opened();
    await fill(store);
    const lines = await backupOf(database);
    await store.put("tokens", "later", { n: 1 });
    const error = await failureOf(restoreBackup(database, from(change(lines)), { replace: true }));
    expect(error.message).toMatch(message);
    expect(await store.list("tokens")).toHaveLength(4);
    expect(await entriesOf(store)).toHaveLength(1100);
  });

  it("shows one moment, whatever is written meanwhile", async () => {
    const { database, store } = await opened();
    await fill(store);
    const lines: string[] = [];
    await writeBackup(
      database,
      async (line) => {
        lines.push(line);
        if (lines.length === 2) await store.append("audit", [{ late: true }]);
      },
      facts,
    );
    expect(lines.join("")).not.toContain("late");
  });
});
