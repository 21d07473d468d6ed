import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "./sqlite-store.ts";
import type { IndexedDocument, IndexStore } from "./store.ts";
import { toAsyncStore } from "./test-search-contract.ts";
import { storeContract } from "./test-store-contract.ts";

let folder: string;
let file: string;
let store: IndexStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-store-"));
  file = join(folder, "index.db");
  store = openStore(file);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const document = (path: string, text: string, more: Partial<IndexedDocument["entry"]> = {}): IndexedDocument => ({
  mount: "docs",
  entry: { path, version: "1", ...more },
  text,
});
const put = (...documents: readonly IndexedDocument[]): void => store.put(documents);
const find = (text: string, more: object = {}): string[] =>
  store.search({ text, limit: 10, ...more }).map(({ entry }) => entry.path);
/** A word of letters alone. */
const name = (at: number): string => `n${String(at).replace(/\d/g, (figure) => "abcdefghij"[Number(figure)]!)}`;
const vector = (...values: number[]): Float32Array => Float32Array.from(values);
const manyWords = (at: number): string =>
  Array.from({ length: 120 }, (_, word) => `w${(at * 7919 + word * 104_729) % 99_991}`).join(" ");
const paths = (mount = "docs"): string[] => store.stored(mount, { limit: 1000 }).map(({ path }) => path);

/** What another connection finds. */
const others = (): string[] => {
  const reader = openStore(file, { readOnly: true });
  try {
    return reader.search({ text: "tea", limit: 10 }).map(({ entry }) => entry.path);
  } finally {
    reader.close();
  }
};

describe("long work", () => {
  it.each([
    ["put", () => put(...Array.from({ length: 9 }, (_, at) => document(`b${at}`, "tea")))],
    ["remove", () => store.remove("docs", [{ path: "a0" }, { path: "a1" }, { path: "a2" }, { path: "a3" }])],
    ["removeBelow", () => store.removeBelow("docs", "")],
  ] as const)("of %s ends when it is to, and is undone", (_, work) => {
    const before = Array.from({ length: 9 }, (__, at) => document(`a${at}`, "tea"));
    put(...before);
    store.close();
    let asked = 0;
    let isStopping = true;
    store = openStore(file, { isStopped: () => isStopping && (asked += 1) > 3 });
    expect(work).toThrow(expect.objectContaining({ kind: "cancelled" }) as Error);
    isStopping = false;
    expect(paths()).toEqual(before.map(({ entry }) => entry.path));
    work();
    expect(paths()).not.toEqual(before.map(({ entry }) => entry.path));
  });

  it("of a merge stops when requested, and is rolled back", () => {
    store.close();
    let isStopping = false;
    let asked = 0;
    store = openStore(file, { isStopped: () => isStopping && (asked += 1) > 1 });
    for (let at = 0; at < 15; at += 1) put(document(`a${at}`, manyWords(at)));
    isStopping = true;
    // The sixteenth put merges all; it polls once for itself.
    expect(() => put(document("a15", manyWords(15)))).toThrow(expect.objectContaining({ kind: "cancelled" }) as Error);
    expect(paths()).toHaveLength(15);
    isStopping = false;
    put(document("a15", manyWords(15)));
    expect(paths()).toHaveLength(16);
    expect(find(manyWords(3).split(" ")[0]!)).toContain("a3");
  });
});

it("notes are stored", () => {
  expect(store.note("a")).toBeUndefined();
  store.setNote("a", "1");
  store.setNote("a", "2");
  store.close();
  store = openStore(file);
  expect(store.note("a")).toBe("2");
});

describe("documents put with more to come", () => {
  it("are found by others and counted after the commit", () => {
    store.counts();
    store.put([document("a", "tea")], true);
    store.put([document("b", "tea")], true);
    expect([others(), store.counts()]).toEqual([[], []]);
    store.commit("docs", true);
    expect(others().sort()).toEqual(["a", "b"]);
    expect(store.counts()).toMatchObject([{ mount: "docs", documents: 2 }]);
  });

  it("may be replaced and removed before the commit", () => {
    store.put([document("a", "tea"), document("b", "tea")], true);
    store.put([document("a", "kettle")], true);
    store.remove("docs", [{ path: "b" }]);
    expect([find("tea"), find("kettle")]).toEqual([[], ["a"]]);
  });

  it("are stored when the store is closed", () => {
    store.put([document("a", "tea")], true);
    store.close();
    store = openStore(file);
    expect(find("tea")).toEqual(["a"]);
  });

  it("that another call undid are reported to their mount", () => {
    store.close();
    let isStopping = false;
    store = openStore(file, { isStopped: () => isStopping });
    store.put([document("a", "tea")], true);
    isStopping = true;
    const fails = (): void => store.put([{ ...document("b", "tea"), mount: "more" }]);
    expect(fails).toThrow(expect.objectContaining({ kind: "cancelled" }) as Error);
    isStopping = false;
    expect(() => store.commit("docs")).toThrow(expect.objectContaining({ kind: "cancelled" }) as Error);
    expect(paths()).toEqual([]);
  });
});

describe("the file", () => {
  it("can be read by others while it is written", () => {
    put(document("a", "first"));
    const reader = openStore(file, { readOnly: true });
    expect(reader.search({ text: "first", limit: 5 })).toHaveLength(1);
    for (let at = 0; at < 40; at += 1) {
      put(document(`b${at}`, `second ${name(at)}`));
      expect(reader.search({ text: name(at), limit: 5 }).map(({ entry }) => entry.path)).toEqual([`b${at}`]);
    }
    store.remove("docs", [{ path: "a" }]);
    expect(reader.search({ text: "first", limit: 5 })).toEqual([]);
    expect(() => reader.put([document("c", "third")])).toThrow(/readonly|read-only/i);
    reader.close();
  });
  it("that is missing or not ready is unavailable to readers", () => {
    expect(() => openStore(join(folder, "none.db"), { readOnly: true })).toThrow(
      expect.objectContaining({ kind: "unavailable" }),
    );
    expect(statSync(join(folder, "none.db"), { throwIfNoEntry: false })).toBeUndefined();
  });
  it.each([
    ["is no database", () => Buffer.from("this is no database ".repeat(1000))],
    ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    [
      "is overwritten in the middle",
      (bytes: Buffer) =>
        Buffer.concat([
          bytes.subarray(0, 8192),
          Buffer.alloc(bytes.length - 16_384, 7),
          bytes.subarray(bytes.length - 8192),
        ]),
    ],
    ["is empty", () => Buffer.alloc(0)],
  ])("that %s is created again", (_, damage) => {
    put(...Array.from({ length: 200 }, (__, at) => document(`a${at}`, `word number${at} ${"more ".repeat(at)}`)));
    store.close();
    writeFileSync(file, damage(readFileSync(file)));
    store = openStore(file);
    expect(store.counts()).toEqual([]);
    put(document("a", "word"));
    expect(find("word")).toEqual(["a"]);
  });
  it("of another tokenizer version is created again, and not read before", () => {
    put(document("a", "word"));
    store.close();
    const database = new DatabaseSync(file);
    database.exec("update made_by set version = 'other'");
    database.close();
    expect(() => openStore(file, { readOnly: true })).toThrow(expect.objectContaining({ kind: "unavailable" }));
    store = openStore(file);
    expect(store.counts()).toEqual([]);
  });
  it("is intact after its writer was killed in the middle of a put", async () => {
    store.close();
    const script = `
      const { openStore } = await import(${JSON.stringify(join(import.meta.dirname, "sqlite-store.ts"))});
      const store = openStore(${JSON.stringify(file)});
      const first = Number(process.argv[1]);
      for (let at = first; ; at += 1) {
        const text = "common word" + at + " " + "filling ".repeat(50);
        store.put([0, 1, 2].map((part) => ({ mount: "docs", entry: { path: at + "/" + part, version: "1" }, text })));
        if (at >= first + 3) store.remove("docs", [0, 1, 2].map((part) => ({ path: (at - 3) + "/" + part })));
        process.stdout.write(at + "\\n");
      }`;
    for (const [round, stopAt] of [1, 20, 33].entries()) {
      const first = (round + 1) * 1_000_000;
      const child = spawn(
        process.execPath,
        ["--input-type=module", "--experimental-strip-types", "--no-warnings", "-e", script, String(first)],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const ended = new Promise((resolve) => child.once("exit", resolve));
      let said = "";
      for await (const piece of child.stdout) {
        said += String(piece);
        if (said.split("\n").length > stopAt) break;
      }
      child.kill("SIGKILL");
      await ended;
      store = openStore(file);
      const documents = paths();
      // All three documents of a put, or none; and what was reported as stored is stored, or was removed by a later put.
      const puts = new Set(documents.map((path) => Number(path.split("/")[0])));
      for (const at of puts) expect(documents.filter((path) => path.startsWith(`${at}/`))).toHaveLength(3);
      const last = Math.max(...puts);
      expect(last).toBeGreaterThanOrEqual(Number(said.split("\n").at(-2)));
      for (let at = Math.max(first, last - 2); at <= last; at += 1) expect(puts).toContain(at);
      expect(find(`word${last}`, { limit: 3 }).sort()).toEqual([`${last}/0`, `${last}/1`, `${last}/2`]);
      expect(
        store
          .search({ text: "common", limit: 1000 })
          .map(({ entry }) => entry.path)
          .sort(),
      ).toEqual([...documents].sort());
      store.close();
    }
    store = openStore(file);
  });
  it("returns free pages to the disk", () => {
    for (let at = 0; at < 2; at += 1)
      put(...Array.from({ length: 500 }, (_, one) => document(`${at}/${one}`, manyWords(at * 1000 + one))));
    store.close();
    const full = statSync(file).size;
    store = openStore(file);
    store.removeBelow("docs", "");
    store.close();
    expect(statSync(file).size).toBeLessThan(full / 4);
    store = openStore(file);
  });
});

describe("vectors", () => {
  it("are requested for every passage once", () => {
    put(document("a", "one two", { title: "Title" }), document("empty", ""));
    const open = store.unembedded(10);
    expect(open.map(({ text }) => text)).toEqual(["Title\none two"]);
    store.embed(open.map(({ id }) => ({ id, vector: vector(1, 0, 0) })));
    expect(store.unembedded(10)).toEqual([]);
    put(document("a", "three"));
    expect(store.unembedded(10).map(({ text }) => text)).toEqual(["three"]);
    store.embed([...open, ...store.unembedded(10)].map(({ id }) => ({ id, vector: vector(0, 0, 0) })));
    expect(store.unembedded(10)).toEqual([]);
  });
  it("come a few at a time", () => {
    put(...Array.from({ length: 5 }, (_, at) => document(`${at}`, `text ${at}`)));
    for (const count of [2, 2, 1]) {
      const open = store.unembedded(2);
      expect(open).toHaveLength(count);
      store.embed(open.map(({ id }) => ({ id, vector: vector(1, 1) })));
    }
    expect(store.unembedded(2)).toEqual([]);
  });
  it("find documents with other words, and raise what both rankings find", () => {
    put(
      document("cat", "a feline animal"),
      document("dog", "a canine animal"),
      document("car", "a vehicle for the road, no animal"),
    );
    const near: Record<string, Float32Array> = {
      cat: vector(1, 0.1, 0),
      dog: vector(0.8, 0.6, 0),
      car: vector(0, 0, 1),
    };
    const open = store.unembedded(10);
    store.embed(
      open.map(({ id, text }) => ({
        id,
        vector: near[text.includes("feline") ? "cat" : text.includes("canine") ? "dog" : "car"]!,
      })),
    );
    expect(find("kitten", { vector: vector(1, 0, 0) })).toEqual(["cat", "dog", "car"]);
    expect(find("canine", { vector: vector(1, 0, 0) })[0]).toBe("dog");
    expect(find("kitten", { vector: vector(1, 0, 0), within: "dog" })).toEqual(["dog"]);
    expect(find("animal -feline", { vector: vector(1, 0, 0) })).not.toContain("cat");
    store.remove("docs", [{ path: "cat" }]);
    expect(find("kitten", { vector: vector(1, 0, 0) })).toEqual(["dog", "car"]);
    expect(find("vehicle", { vector: vector(1, 0) })).toEqual(["car"]);
  });
});

describe("the contract of stores", () => {
  storeContract(async () => {
    const own = mkdtempSync(join(tmpdir(), "pressmark-contract-"));
    const opened = openStore(join(own, "index.db"));
    return {
      store: toAsyncStore(opened),
      async close() {
        opened.close();
        rmSync(own, { recursive: true });
      },
    };
  });
});
