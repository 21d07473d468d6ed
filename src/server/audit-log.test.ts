import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestStore } from "../state/test-store.ts";
import { type AuditEntry, createAuditLog, readAuditLog } from "./audit-log.ts";
import { createAuditUriFilter, toAuditEntry } from "./audit-entry.ts";
import { createSharedAuditLog, readSharedAuditLog } from "./shared-audit-log.ts";

const folders: string[] = [];
const logged: string[] = [];
const runtime = { now: () => 1_800_000_000_000, log: (_level: string, message: string) => void logged.push(message) };

function folderFor(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-audit-"));
  folders.push(folder);
  return folder;
}

async function allOf(log: AsyncIterable<AuditEntry>): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of log) entries.push(entry);
  return entries;
}

const entriesIn = (folder: string) => allOf(readAuditLog(folder));

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  logged.length = 0;
});

/** A log, and what it contains besides what was written. */
const kinds = [
  {
    name: "in files",
    more: {},
    open() {
      const folder = folderFor();
      return {
        create: (options: object) => createAuditLog({ folder, runtime, ...options }),
        entries: () => entriesIn(folder),
      };
    },
  },
  {
    name: "shared",
    more: { instance: "one" },
    open() {
      const store = createTestStore();
      const shared = { instance: "one", store };
      return {
        create: (options: object) => createSharedAuditLog({ shared, runtime, ...options }),
        entries: () => allOf(readSharedAuditLog(store)),
      };
    },
  },
];

describe.each(kinds)("an audit log $name", ({ open, more }) => {
  it("has what happened in order, without queries", async () => {
    const { create, entries } = open();
    const audit = create({});
    audit.write({ what: "read", caller: "aki", outcome: "allowed", uri: "docs://a", rule: 1, bytes: 5 });
    audit.write({ what: "search", caller: "aki", outcome: "allowed", query: "給与", count: 2 });
    await audit.close();
    const time = "2027-01-15T08:00:00.000Z";
    expect(await entries()).toEqual([
      { time, what: "read", caller: "aki", outcome: "allowed", uri: "docs://a", rule: 1, bytes: 5, ...more },
      { time, what: "search", caller: "aki", outcome: "allowed", count: 2, ...more },
    ]);
  });

  it("stores queries, and hashes instead of URIs, if the config says so", async () => {
    const { create, entries } = open();
    const audit = create({ hashUris: true, queries: true });
    audit.write({ what: "search", outcome: "allowed", uri: "docs://secret-plan", query: "給与" });
    await audit.close();
    const found = await entries();
    expect(JSON.stringify(found)).not.toContain("secret-plan");
    expect(found).toMatchObject([{ uri: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), query: "給与" }]);
  });

  it("stores long texts without their middle, and says how long they were", async () => {
    const { create, entries } = open();
    const audit = create({ queries: true });
    const long = `docs://${"資料/".repeat(9000)}secret.txt`;
    const longest = "docs://".padEnd(2048, "x");
    audit.write({ what: "read", outcome: "missing", uri: long, caller: "a".repeat(3000), detail: "d".repeat(5000) });
    audit.write({ what: "search", outcome: "allowed", query: long });
    audit.write({ what: "read", outcome: "missing", uri: longest });
    audit.write({ what: "watch", outcome: "allowed", uris: ["docs://a", long, "docs://b"] });
    await audit.close();
    const found = await entries();
    const whole = { bytes: Buffer.byteLength(long), sha256: createHash("sha256").update(long).digest("hex") };
    const shown = expect.stringMatching(/^docs:\/\/[資料/]{600,700}…[資料/]{150,250}secret\.txt$/);
    expect(found).toMatchObject([
      { uri: shown, cut: { uri: whole, caller: { bytes: 3000 }, detail: { bytes: 5000 } } },
      { query: shown, cut: { query: whole } },
      { uri: longest },
      { uris: ["docs://a", "docs://b"] },
      { uri: shown, cut: { uri: whole } },
    ]);
    for (const { uri = "", caller = "", detail = "", query = "" } of found)
      expect(Math.max(...[uri, caller, detail, query].map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(
        2048,
      );
    expect(found[2]).not.toHaveProperty("cut");
  });

  it("has several URIs in entries of limited size", async () => {
    const { create, entries } = open();
    const audit = create({});
    const uris = Array.from(
      { length: 200 },
      (_each, number) => `docs://${number}/${"x".repeat(number < 100 ? 2 : 1000)}`,
    );
    audit.write({ what: "watch", outcome: "allowed", uris });
    await audit.close();
    const found = await entries();
    expect(found.flatMap((entry) => entry.uris ?? [])).toEqual(uris);
    expect(found.map((entry) => entry.uris?.length).slice(0, 3)).toEqual([100, 8, 8]);
  });
});

it("finds entries by URI, also by one of several and by one that was cut", () => {
  const long = `docs://a/${"b".repeat(2000)}/c[1].txt?x=${"y".repeat(1000)}`;
  const cut = toAuditEntry("", { what: "read", outcome: "missing", uri: long }, {});
  const finds = (text: string, entry: Partial<AuditEntry> = cut) => createAuditUriFilter(text)(entry);
  expect(["docs://a/b", "**/secrets/**", long].map((text) => finds(text, { uri: "docs://a/b" }))).toEqual([
    true,
    false,
    false,
  ]);
  expect(["docs://b", "docs://*"].map((text) => finds(text, { uris: ["docs://a", "docs://b"] }))).toEqual([true, true]);
  expect(finds("docs://c", { uris: ["docs://a", "docs://b"] })).toBe(false);
  expect(finds("**", {})).toBe(false);
  // A pattern that may match the missing middle finds the entry.
  expect([long, "docs://a/**", "**/secrets/**", "**"].map((text) => finds(text))).toEqual([true, true, true, true]);
  expect([`${long}z`, "docs://b/**", "docs://a/b"].map((text) => finds(text))).toEqual([false, false, false]);
  // However a caller spelled it, and however it is asked for.
  for (const text of ["**/設計/**", "**/%E8%A8%AD計/*", "docs://%E8%A8%AD%E8%A8%88/secret.md"])
    for (const uri of [
      "docs://%E8%A8%AD%E8%A8%88/secret.md",
      "docs://設計/%73ecret.md",
      "docs://%e8%a8%ad%E8%A8%88/secret.md",
    ])
      expect(finds(text, { uri }), `${text} ${uri}`).toBe(true);
  expect(finds("**/secret*", { uris: ["docs://a", "docs://b/%73ecret.txt"] })).toBe(true);
  expect(finds("**/secret*", { uri: "docs://b/public.txt" })).toBe(false);
  expect(() => createAuditUriFilter(`docs://${"x".repeat(2000)}*`)).toThrow("at most 1024 characters");
});

it("is a file that only the user can read", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime });
  audit.write({ what: "read", outcome: "allowed" });
  await audit.close();
  expect(statSync(join(folder, "audit.jsonl")).mode & 0o077).toBe(0);
});

it("has the newest entries of all instances, as many as configured", async () => {
  const store = createTestStore();
  const logs = ["one", "two"].map((instance) =>
    createSharedAuditLog({ shared: { instance, store }, runtime, maxBytes: 2000 }),
  );
  for (let count = 0; count < 40; count++) {
    const log = logs[count % 2]!;
    log.write({ what: "read", outcome: "allowed", count });
    await log.close();
  }
  const found = await allOf(readSharedAuditLog(store));
  // Each may have written 10 since it cut the log.
  expect(found.length).toBeLessThanOrEqual(30);
  expect(found.slice(-2)).toMatchObject([
    { count: 38, instance: "one" },
    { count: 39, instance: "two" },
  ]);
});

it("has no more than that if instances are started often and each writes little", async () => {
  const store = createTestStore();
  const entry = { time: "2027-01-15T08:00:00.000Z", what: "read", outcome: "allowed" };
  await store.append(
    "audit",
    Array.from({ length: 20_010 }, (_each, count) => ({ ...entry, count })),
  );
  const log = createSharedAuditLog({ shared: { instance: "one", store }, runtime, maxBytes: 4_000_000 });
  log.write({ what: "search", outcome: "allowed" });
  await log.close();
  const found = await allOf(readSharedAuditLog(store));
  expect(found).toHaveLength(20_000);
  expect([found[0]?.count, found.at(-1)?.what]).toEqual([11, "search"]);
});

it("shows all other entries if one in the shared log cannot be read", async () => {
  const store = createTestStore();
  const audit = createSharedAuditLog({ shared: { instance: "one", store }, runtime });
  await store.append("audit", [{}, { time: "yesterday", what: "read", outcome: "allowed" }]);
  audit.write({ what: "read", outcome: "allowed" });
  await audit.close();
  expect((await allOf(readSharedAuditLog(store))).map(({ what }) => what)).toEqual(["read"]);
});

function openWithoutStore() {
  const store = createTestStore();
  store.takeAway(true);
  const audit = createSharedAuditLog({ shared: { instance: "one", store }, runtime });
  return { store, audit, entries: () => allOf(readSharedAuditLog(store)) };
}

describe("a shared audit log whose store is away", () => {
  const failed = "the audit log cannot be written yet; up to 10000 events (16 MiB) are kept until it can";

  it("keeps what happens, and says once when it begins and when it ends", async () => {
    const { store, audit, entries } = openWithoutStore();
    audit.write({ what: "read", outcome: "allowed", count: 0 });
    await vi.waitFor(() => expect(logged).toEqual([failed]));
    for (const count of [1, 2]) audit.write({ what: "read", outcome: "allowed", count });
    store.takeAway(false);
    await vi.waitFor(() => expect(logged).toEqual([failed, "the audit log is written again; nothing is missing"]), {
      timeout: 20_000,
    });
    await audit.close();
    expect((await entries()).map(({ count }) => count)).toEqual([0, 1, 2]);
    expect(logged).toHaveLength(2);
  });

  it("says how many events are missing if there were more than it keeps", async () => {
    const { store, audit, entries } = openWithoutStore();
    for (let count = 0; count < 10_005; count++) audit.write({ what: "read", outcome: "allowed", count });
    store.takeAway(false);
    await audit.close();
    expect(logged).toEqual([failed, "the audit log is written again; 5 events are missing"]);
    const found = await entries();
    expect(found).toHaveLength(10_001);
    expect(found.at(-1)).toMatchObject({ what: "config", detail: "5 events could not be recorded" });
  });

  it("says whose events are missing, and lets nobody wait", async () => {
    const { store, audit, entries } = openWithoutStore();
    audit.write({ what: "read", outcome: "allowed", caller: "aki" });
    await vi.waitFor(() => expect(logged).toEqual([failed]));
    const waits = Array.from({ length: 10_001 }, () =>
      audit.write({ what: "read", outcome: "allowed", caller: "aki" }),
    );
    waits.push(audit.write({ what: "read", outcome: "allowed", caller: "bo" }));
    expect(waits.filter((each) => each !== undefined)).toEqual([]);
    store.takeAway(false);
    await audit.close();
    expect((await entries()).slice(10_000)).toMatchObject([
      { what: "config", caller: "aki", detail: "2 events could not be recorded" },
      { what: "config", caller: "bo", detail: "1 event could not be recorded" },
    ]);
  });

  it("lets those go on who wait when it turns out that nothing can be stored", async () => {
    const { store, audit, entries } = openWithoutStore();
    let waiting: Promise<void> | undefined;
    for (let count = 0; count <= 10_000; count++) waiting = audit.write({ what: "read", outcome: "allowed", count });
    await waiting;
    expect(logged).toEqual([failed]);
    store.takeAway(false);
    await audit.close();
    expect(waiting).toBeDefined();
    expect(await entries()).toHaveLength(10_001);
  });

  it("keeps 16 MiB of long entries", async () => {
    const { store, audit, entries } = openWithoutStore();
    const uri = `docs://${"x".repeat(5000)}`;
    for (let count = 0; count < 10_000; count++) audit.write({ what: "read", outcome: "missing", uri, count });
    await vi.waitFor(() => expect(logged).toEqual([failed]));
    store.takeAway(false);
    await audit.close();
    const found = await entries();
    const bytes = Buffer.byteLength(JSON.stringify(found.slice(0, -1)));
    expect(bytes / (16 * 1024 * 1024)).toBeGreaterThan(0.9);
    expect(bytes / (16 * 1024 * 1024)).toBeLessThan(1.2);
    expect(found.at(-1)).toMatchObject({ detail: `${10_001 - found.length} events could not be recorded` });
  });

  it("says how many events are lost if the server stops before", async () => {
    const { audit } = openWithoutStore();
    for (const count of [0, 1]) audit.write({ what: "read", outcome: "allowed", count });
    await audit.close();
    expect(logged).toEqual([failed, "2 events are missing in the audit log, because the server stopped"]);
  });
});

it("begins a new file when one is full, and keeps as many as configured", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime, maxBytes: 1024, maxFiles: 3 });
  for (let count = 0; count < 60; count++) {
    audit.write({ what: "read", outcome: "allowed", uri: `docs://${String(count).padStart(100, "0")}` });
    await audit.close();
  }
  expect(readdirSync(folder)).toHaveLength(3);
  const uris = (await entriesIn(folder)).map(({ uri }) => Number(uri!.slice("docs://".length)));
  expect(uris).toEqual(uris.map((_, index) => 60 - uris.length + index));
});

it("reads past a line that was cut", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime });
  audit.write({ what: "read", outcome: "allowed" });
  await audit.close();
  appendFileSync(join(folder, "audit.jsonl"), '{"time":"20\n');
  audit.write({ what: "watch", outcome: "allowed" });
  await audit.close();
  expect((await entriesIn(folder)).map(({ what }) => what)).toEqual(["read", "watch"]);
});

it("says once that it cannot be written, and how many events are missing when it can", async () => {
  const folder = join(folderFor(), "file");
  writeFileSync(folder, "");
  const audit = createAuditLog({ folder, runtime });
  for (let count = 0; count < 3; count++) audit.write({ what: "read", outcome: "allowed" });
  const failed = "the audit log cannot be written; what happens is not recorded";
  await vi.waitFor(() => expect(logged).toEqual([failed]));
  rmSync(folder);
  audit.write({ what: "read", outcome: "allowed" });
  await audit.close();
  expect(logged).toEqual([failed, "the audit log is written again; 3 events are missing"]);
  expect((await entriesIn(folder)).map(({ what, detail }) => [what, detail])).toEqual([
    ["read", undefined],
    ["config", "3 events could not be recorded"],
  ]);
});

it("begins a new file also while very much is written at once", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime, maxBytes: 500_000, maxFiles: 10 });
  const uri = `docs://${"x".repeat(2000)}`;
  for (let count = 0; count < 2500; count++) audit.write({ what: "read", outcome: "missing", uri, count });
  await audit.close();
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  // A file is too large by what is written at once.
  expect(Math.max(...sizes)).toBeLessThan(1_700_000);
  expect((await entriesIn(folder)).map(({ count }) => count)).toEqual(
    Array.from({ length: 2500 }, (_each, count) => count),
  );
});
