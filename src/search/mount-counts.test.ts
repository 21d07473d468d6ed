import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore } from "./sqlite-store.ts";
import type { IndexStore } from "./store.ts";

let folder: string;
let file: string;
let store: IndexStore;
let isStopped: boolean;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-counts-"));
  file = join(folder, "index.db");
  isStopped = false;
  store = openStore(file, { isStopped: () => isStopped });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const document = (mount: string, path: string) => ({ mount, entry: { path, version: "1" }, text: `tea of ${path}` });

it("follows each change without reading the table", () => {
  expect(store.counts()).toEqual([]);
  store.put([document("docs", "a"), document("docs", "b"), document("notes", "a")]);
  store.put([document("docs", "b")]);
  expect(store.counts()).toEqual([
    { mount: "docs", documents: 2, passages: 2 },
    { mount: "notes", documents: 1, passages: 1 },
  ]);
  store.remove("notes", [{ path: "a" }]);
  store.removeBelow("docs", "b");
  expect(store.counts()).toEqual([{ mount: "docs", documents: 1, passages: 1 }]);
});

it("does not count what was rolled back", () => {
  store.put([document("docs", "a")]);
  expect(store.counts()).toHaveLength(1);
  isStopped = true;
  expect(() => store.put([document("docs", "b")])).toThrow("being closed");
  expect(() => store.removeBelow("docs", "")).toThrow("being closed");
  expect(store.counts()).toEqual([{ mount: "docs", documents: 1, passages: 1 }]);
});

it("counts again when another connection has written", () => {
  store.put([document("docs", "a"), document("docs", "b")]);
  expect(store.counts()).toEqual([{ mount: "docs", documents: 2, passages: 2 }]);
  const other = new DatabaseSync(file);
  other.exec("delete from documents where id = 1");
  other.close();
  expect(store.counts()).toEqual([{ mount: "docs", documents: 1, passages: 1 }]);
});
