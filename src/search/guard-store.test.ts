import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { guardStore } from "./guard-store.ts";
import { type IndexFolder, indexFolder } from "./index-folder.ts";
import { type IndexLease, takeLease } from "./lease.ts";
import { openStore } from "./sqlite-store.ts";
import type { IndexedDocument, IndexStore } from "./store.ts";

let folder: string;
let files: IndexFolder;
let lease: IndexLease;
let inner: IndexStore;
let events: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-guard-"));
  files = indexFolder(folder);
  files.prepare();
  lease = takeLease(files.lock)!;
  inner = openStore(files.database);
  events = [];
});

afterEach(() => {
  inner.close();
  lease.release();
  rmSync(folder, { recursive: true, force: true });
});

function guard(store = inner) {
  return guardStore(store, {
    files,
    lease,
    touched: () => events.push("touched"),
    lost: ({ reason }) => events.push(reason),
  });
}

const document: IndexedDocument = { mount: "m", entry: { path: "a", version: "1" }, text: "green tea" };
const unavailable = expect.objectContaining({ kind: "unavailable" }) as Error;

function failing(errcode: number): IndexStore {
  return { ...inner, put: () => throwing(Object.assign(new Error("failed"), { errcode })) };
}

function throwing(cause: Error): never {
  throw cause;
}

describe("a guarded store", () => {
  it("behaves like the store while nobody else writes", () => {
    const { store, check, problem } = guard();
    store.put([document]);
    store.setNote("a", "b");
    check();
    expect(store.stored("m", { limit: 9 })).toEqual([{ path: "a", version: "1" }]);
    store.removeBelow("m", "");
    expect([store.counts(), store.note("a"), problem, events]).toEqual([[], "b", undefined, []]);
  });

  it.each([
    ["is removed", () => rmSync(files.database)],
    [
      "is replaced",
      () => (writeFileSync(join(folder, "other"), ""), renameSync(join(folder, "other"), files.database)),
    ],
    ["has no lease any more", () => rmSync(files.lock)],
  ] as const)("whose file %s is lost, once, and nothing is written to it", (_, inject) => {
    const { store, check } = guard();
    inject();
    expect(() => store.put([document])).toThrow(unavailable);
    check();
    expect(() => store.counts()).toThrow(unavailable);
    expect(events).toEqual(["replaced"]);
  });

  it("is lost if another program damaged it", () => {
    const { store, check } = guard();
    store.put([document]);
    writeFileSync(`${files.database}-wal`, Buffer.alloc(100_000, "garbled"));
    check();
    expect(events).toEqual(["damaged"]);
  });

  it("is kept if another program wrote to it and it is intact, and ignores meaningless times after a while", () => {
    const { store, check } = guard();
    store.put([document]);
    for (let seconds = 1; seconds <= 5; seconds += 1) {
      utimesSync(files.database, seconds, seconds);
      check();
    }
    store.put([document]);
    expect(events).toEqual(["touched", "touched", "touched"]);
  });

  it("is lost when it is reported as damaged", () => {
    const { store } = guard(failing(11));
    expect(() => store.put([document])).toThrow(unavailable);
    expect(events).toEqual(["damaged"]);
    const other = guard();
    other.condemn();
    expect(events).toEqual(["damaged", "damaged"]);
  });

  it("reports in plain words why it cannot be written, until it can", () => {
    const store = { ...failing(13) };
    const guarded = guard(store);
    expect(() => guarded.store.put([document])).toThrow("the disk of the search index is full");
    expect(guarded.problem).toMatchObject({ reason: "disk-full" });
    guarded.store.setNote("a", "b");
    expect(guarded.problem).toBeUndefined();
    expect(events).toEqual([]);
  });
});
