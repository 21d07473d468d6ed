import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { indexFolder } from "../search/index-folder.ts";
import { takeLease } from "../search/lease.ts";
import { openStore } from "../search/sqlite-store.ts";
import { examineIndex } from "./examine-index.ts";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-examine-index-"));
  folder = join(root, "pressmark", "index", "0");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("an index that is examined", () => {
  it("is well where it can be made, and where it is whole", () => {
    expect(examineIndex(folder)).toEqual({
      about: "index",
      state: "ok",
      says: `there is none yet; it can be stored in ${folder}`,
    });
    openStore(join(folder, "index.db")).close();
    expect(examineIndex(folder)).toMatchObject({ state: "ok", says: `it can be stored in ${folder}` });
    expect(existsSync(join(folder, "probe"))).toBe(false);
  });

  it("is broken where its folder cannot be made, with what to do", () => {
    writeFileSync(join(root, "pressmark"), "");
    expect(examineIndex(folder)).toEqual({
      about: "index",
      state: "broken",
      says: `the path of the search index is not a folder: ${folder}`,
      advice: "move it, or set XDG_CACHE_HOME to another folder",
    });
  });

  it("names what is in the way, and leaves it there", () => {
    mkdirSync(join(folder, "lock.db"), { recursive: true });
    expect(examineIndex(folder)).toMatchObject({
      state: "hint",
      says: `another file is in place of the search index: ${join(folder, "lock.db")}`,
    });
    expect(existsSync(join(folder, "lock.db"))).toBe(true);
  });

  it("is reported as damaged, and left unchanged", () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "index.db"), "garbled ".repeat(1000));
    expect(examineIndex(folder)).toMatchObject({
      state: "hint",
      says: `it is damaged, or from another version: ${folder}`,
    });
    expect(examineIndex(folder)).toMatchObject({ state: "hint" });
  });

  it("has the status of the process that maintains it", () => {
    const files = indexFolder(folder);
    files.prepare();
    const lease = takeLease(files.lock);
    expect(examineIndex(folder)).toMatchObject({ state: "ok", says: `another process maintains it in ${folder}` });
    files.writeStatus({ mounts: [], bytes: 0, problem: { reason: "disk-full", message: "the disk is full" } });
    expect(examineIndex(folder)).toMatchObject({
      state: "hint",
      says: `another process maintains it in ${folder}, and reports: the disk is full`,
    });
    lease?.release();
  });
});
