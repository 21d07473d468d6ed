/** Instances with ledgers of their own share what one of them has listed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { unavailable } from "../../errors.ts";
import { wait } from "../../lib/wait.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { SharedCache } from "../../source.ts";
import { createLocalLeases } from "../../state/local-leases.ts";
import { createSharedCache } from "../../state/shared-cache.ts";
import { createTestStore, type TestStore } from "../../state/test-store.ts";
import type { FakeDrive } from "../../testing/fakes/gdrive.ts";
import gdrive, { type DriveSourceOptions } from "../gdrive.ts";
import { openLedger } from "./ledger.ts";
import { createSharedListings } from "./shared-listings.ts";
import type { SyncOptions } from "./sync.ts";
import { as, judged } from "./test-server.ts";
import { known, startTestSync, type TestSync } from "./test-sync.ts";

const { signal } = new AbortController();
const kind = "cache:gdrive";

let drive: TestSync;
let fake: FakeDrive;
let store: TestStore;
let folder: string;
beforeEach(async () => {
  drive = await startTestSync();
  ({ fake } = drive);
  store = createTestStore();
  folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  onTestFinished(async () => {
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

interface InstanceOptions extends Partial<SyncOptions> {
  readonly served?: Partial<DriveSourceOptions>;
  readonly around?: (cache: SharedCache) => SharedCache;
}

let instances = 0;
/** An instance on a machine of its own. */
function createMachine(): { readonly cache: SharedCache; crash(): Promise<void> } {
  const leases = createLocalLeases({ folder, instance: `instance ${(instances += 1)}`, runtime: { wait } });
  onTestFinished(() => leases.close());
  return { cache: createSharedCache({ store, leases }, "gdrive"), crash: () => leases.close() };
}

async function openInstance({ served = {}, around = (cache) => cache, ...more }: InstanceOptions = {}) {
  const { cache, crash } = createMachine();
  const ledger = await openLedger({ file: undefined, folders: [] });
  const warnings: string[] = [];
  const waited = Promise.withResolvers<void>();
  const options = gdrive.options(z).parse({ anonymous: true, rootUrl: fake.rootUrl, ...served });
  const log = (_level: string, message: string) => void warnings.push(message);
  const runtime = {
    ...createRuntime({ write: () => true }),
    wait: () => {
      waited.resolve();
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
  const listings = createSharedListings(options, { sharedCache: around(cache), log });
  const sync = drive.sync(ledger, { listings, runtime, ...more });
  onTestFinished(async () => {
    await sync.close();
    ledger.close();
  });
  return { ledger, sync, warnings, crash, waits: waited.promise };
}

/** How often Drive was asked for a list of files while the work ran. */
async function listsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = fake.asked.length;
  await work();
  return fake.asked.slice(before).filter((line) => line.startsWith("GET /drive/v3/files?")).length;
}

async function fill(): Promise<void> {
  await (await openInstance()).sync.now(signal);
}

const records = async () => (await store.list(kind)).map(({ key, value }) => ({ key, value }));
const chunks = async () => (await records()).filter(({ key }) => key.includes(":"));
const idOf = async () => (await heads())[0]!.value["id"];
const heads = async () => (await records()).filter(({ key }) => !key.includes(":"));

/** Of several chunks. */
function buildLarge(): void {
  for (let n = 0; n < 700; n += 1) fake.put(`id-${n}`, { content: "x", name: "é".repeat(900) });
}

describe("a second instance", () => {
  it("takes the listing of the first, and applies the changes since", async () => {
    drive.build();
    fake.put("unreadable", { mimeType: "application/x-unknown", content: "x" });
    fake.trash("b");
    const first = await openInstance();
    expect(await listsDuring(() => first.sync.now(signal))).toBe(2);
    const second = await openInstance();
    expect(await listsDuring(() => second.sync.now(signal))).toBe(0);
    expect(known(second.ledger)).toEqual(drive.truth());
    for (const id of ["root-folder-0", "team", "f"]) expect(second.ledger.row(id)).toEqual(first.ledger.row(id));
    expect(second.ledger.unreadable(10)).toEqual(first.ledger.unreadable(10));
    drive.stir();
    const third = await openInstance();
    // Only that of the new shared drive.
    expect(await listsDuring(() => third.sync.now(signal))).toBe(1);
    expect(known(third.ledger)).toEqual(drive.truth());
  });

  it("takes a listing of many chunks, none of which is large", async () => {
    buildLarge();
    await fill();
    const { ledger, sync } = await openInstance();
    expect(await listsDuring(() => sync.now(signal))).toBe(0);
    expect(known(ledger)).toEqual(drive.truth());
    const lengths = (await chunks()).map(({ value }) => JSON.stringify(value).length);
    expect(lengths.length).toBeGreaterThan(2);
    expect(Math.max(...lengths)).toBeLessThan(300 * 1024);
  });

  it("does not take that of another account or of another selection of files", async () => {
    drive.build();
    await fill();
    const token = `x.${Buffer.from(JSON.stringify({ iss: "other@example.org" })).toString("base64url")}.x`;
    const identity = {
      headers: async () => new Headers({ Authorization: `Bearer ${token}` }),
      renew: () => undefined,
    };
    const other = await openInstance({ api: drive.api({ identity }) });
    expect(await listsDuring(() => other.sync.now(signal))).toBe(1);
    expect(known(other.ledger)).toEqual({});
    const judgedOne = await openInstance({ served: { access: "drive" } });
    expect(await listsDuring(() => judgedOne.sync.now(signal))).toBe(2);
  });

  it("shows nobody a file from which they were removed after it was listed", async () => {
    const forBob = { permissions: [{ type: "user", emailAddress: "bob@example.org" }] } as const;
    for (const id of ["kept", "revoked"]) fake.document(id, id, forBob);
    const bob = as("bob@example.org");
    const open = async (name: string) => {
      const options = gdrive.options(z).parse({ anonymous: true, rootUrl: fake.rootUrl, ...judged });
      const env = { XDG_CACHE_HOME: join(folder, name) };
      const sharedCache = createMachine().cache;
      const source = await gdrive.open(options, { ...createRuntime({ write: () => true }), env, sharedCache });
      onTestFinished(async () => source.close?.());
      return source;
    };
    const first = await open("one");
    await first.list({ limit: 10 }, bob);
    expect(first.maySee!(bob.caller, { path: "file/revoked" })).toBe(true);
    fake.put("revoked", { permissions: [] });
    const second = await open("two");
    const early: boolean[] = [];
    // At this moment, the ledger has the listing without the changes.
    fake.onAsk = (line) => {
      if (line.startsWith("GET /drive/v3/changes?")) early.push(second.maySee!(bob.caller, { path: "file/revoked" }));
    };
    expect(await listsDuring(() => second.list({ limit: 10 }, bob))).toBe(0);
    expect(early[0]).toBe(false);
    const seen = ["kept", "revoked"].filter((id) => second.maySee!(bob.caller, { path: `file/${id}` }));
    expect(seen).toEqual(["kept"]);
  });
});

describe("instances that start together", () => {
  it("list once", async () => {
    drive.build();
    const all = await Promise.all(Array.from({ length: 3 }, () => openInstance()));
    expect(await listsDuring(() => Promise.all(all.map(({ sync }) => sync.now(signal))))).toBe(2);
    for (const { ledger } of all) expect(known(ledger)).toEqual(drive.truth());
  });

  it("take a listing that was stored just before they could list", async () => {
    drive.build();
    const { sync } = await openInstance({
      around: (cache) => ({
        ...cache,
        async tryAcquire(name) {
          await fill();
          return cache.tryAcquire(name);
        },
      }),
    });
    expect(await listsDuring(() => sync.now(signal))).toBe(2);
  });

  it("take over if the one that lists crashes", async () => {
    drive.build();
    const listing = Promise.withResolvers<void>();
    const hanging = {
      ...drive.api(),
      files: (_request: unknown, stop: AbortSignal) =>
        new Promise<never>((_, reject) => {
          listing.resolve();
          stop.addEventListener("abort", () => reject(stop.reason as Error), { once: true });
        }),
    };
    const first = await openInstance({ api: hanging, drives: [] });
    first.sync.now(signal).catch(() => undefined);
    await listing.promise;
    const second = await openInstance({ drives: [] });
    const done = second.sync.now(signal);
    await second.waits;
    expect(known(second.ledger)).toEqual({});
    await first.crash();
    await done;
    expect(Object.keys(known(second.ledger))).toEqual(["a", "b", "c"]);
  });
});

describe("a stored listing", () => {
  it("is replaced if Drive rejects its token", async () => {
    drive.build();
    await fill();
    const before = await heads();
    fake.fail([400, "invalid"], { where: "/changes", times: 2 });
    const second = await openInstance();
    expect(await listsDuring(() => second.sync.now(signal))).toBe(2);
    expect(known(second.ledger)).toEqual(drive.truth());
    expect((await heads()).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
    for (const { value } of await heads()) expect(before.map((each) => each.value["id"])).not.toContain(value["id"]);
    const third = await openInstance();
    expect(await listsDuring(() => third.sync.now(signal))).toBe(0);
    // Those of the replaced one are removed.
    expect(await chunks()).toHaveLength(2);
  });

  it.each(["missing", "changed"])("of which a chunk is %s is replaced", async (fault) => {
    buildLarge();
    await fill();
    const { key, value } = (await chunks())[1]!;
    if (fault === "missing") await store.remove(kind, key);
    else await store.put(kind, key, { ...value, files: [] });
    const second = await openInstance();
    expect(await listsDuring(() => second.sync.now(signal))).toBe(1);
    expect(known(second.ledger)).toEqual(drive.truth());
    const third = await openInstance();
    expect(await listsDuring(() => third.sync.now(signal))).toBe(0);
    expect(known(third.ledger)).toEqual(drive.truth());
  });

  it("whose record is damaged is replaced", async () => {
    drive.build();
    await fill();
    for (const { key } of await heads()) await store.put(kind, key, { token: 1 });
    expect(await listsDuring(fill)).toBe(2);
    expect(await listsDuring(fill)).toBe(0);
  });

  it("that is replaced while it is read is left for its successor", async () => {
    buildLarge();
    await fill();
    const first = await idOf();
    let reads = 0;
    const second = await openInstance({
      around: (cache) => ({
        ...cache,
        async get(key) {
          if (key.includes(String(first)) && (reads += 1) === 2) {
            fake.fail([400, "invalid"], { where: "/changes" });
            await fill();
          }
          return cache.get(key);
        },
      }),
    });
    // That of the instance that replaced it.
    expect(await listsDuring(() => second.sync.now(signal))).toBe(1);
    expect(reads).toBe(2);
    expect(known(second.ledger)).toEqual(drive.truth());
  });

  it("is stored again by an instance that had to apply many changes", async () => {
    buildLarge();
    await fill();
    const before = await idOf();
    for (let n = 0; n < 70; n += 1) fake.remove(`id-${n}`);
    await fill();
    expect(await idOf()).toBe(before);
    fake.remove("id-70");
    await fill();
    expect(await idOf()).not.toBe(before);
    const last = await openInstance();
    expect(await listsDuring(() => last.sync.now(signal))).toBe(0);
    expect(known(last.ledger)).toEqual(drive.truth());
  });

  it("does not exist for a mount that stores nothing", async () => {
    drive.build();
    const { sync } = await openInstance({ served: { keep: false } });
    await sync.now(signal);
    expect(await records()).toEqual([]);
  });
});

it("an instance without the shared state lists by itself, and logs that once", async () => {
  drive.build();
  await fill();
  store.takeAway(true);
  const { ledger, sync, warnings } = await openInstance({
    around: (cache) => ({ ...cache, tryAcquire: () => Promise.reject(unavailable("away")) }),
  });
  expect(await listsDuring(() => sync.now(signal))).toBe(2);
  expect(known(ledger)).toEqual(drive.truth());
  expect(warnings).toEqual(["the file list of Drive cannot be shared with other instances at present"]);
});
