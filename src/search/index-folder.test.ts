import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { indexFolder } from "./index-folder.ts";
import type { MountStatus } from "./status.ts";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-index-folder-"));
  folder = join(root, "a", "b");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("the folder of an index", () => {
  it("is created only when it is prepared, private to its owner", () => {
    const files = indexFolder(folder);
    expect([files.bytes(), files.stamp(), files.readStatus(), files.obstacles()]).toEqual([
      0,
      undefined,
      undefined,
      [],
    ]);
    expect(existsSync(folder)).toBe(false);
    expect(files.prepare()).toEqual([]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("knows once whether the database is as it was when it was closed in order", () => {
    const files = indexFolder(folder);
    files.prepare();
    files.markClosed();
    expect(files.takeClosed()).toBe(false);
    writeFileSync(files.database, "one");
    files.markClosed();
    expect([files.takeClosed(), files.takeClosed()]).toEqual([true, false]);
    files.markClosed();
    // As a reader leaves it.
    writeFileSync(`${files.database}-wal`, "");
    expect(files.takeClosed()).toBe(true);
    files.markClosed();
    files.forgetClosed();
    expect(files.takeClosed()).toBe(false);
    files.markClosed();
    writeFileSync(files.database, "three");
    expect(files.takeClosed()).toBe(false);
  });

  it("removes empty folders that are in its way, and moves anything else aside", () => {
    const files = indexFolder(folder);
    files.prepare();
    mkdirSync(files.lock);
    for (const round of ["", "-2"]) {
      mkdirSync(files.database);
      writeFileSync(join(files.database, "mine.txt"), round);
      expect(files.obstacles()).toContain(files.database);
      expect(files.prepare()).toEqual([`${files.database}.aside${round}`]);
      expect(readFileSync(join(`${files.database}.aside${round}`, "mine.txt"), "utf8")).toBe(round);
    }
    expect(files.obstacles()).toEqual([]);
    writeFileSync(files.database, "");
    files.remove();
    expect(existsSync(files.database)).toBe(false);
    expect(existsSync(`${files.database}.aside`)).toBe(true);
  });

  it("replaces a file at its path, which is moved aside", () => {
    mkdirSync(join(root, "a"));
    writeFileSync(folder, "mine");
    expect(indexFolder(folder).prepare()).toEqual([`${folder}.aside`]);
    expect(readFileSync(`${folder}.aside`, "utf8")).toBe("mine");
  });

  it("reports why it cannot be created", () => {
    writeFileSync(join(root, "a"), "a file");
    expect(() => indexFolder(folder).prepare()).toThrow(
      expect.objectContaining({ code: "EEXIST", path: join(root, "a") }) as Error,
    );
  });

  it("has a new stamp whenever the database or its log is written", () => {
    const files = indexFolder(folder);
    files.prepare();
    const stamps = new Set([files.stamp()]);
    for (const [path, text] of [
      [files.database, "a"],
      [files.database, "ab"],
      [`${files.database}-wal`, "a"],
      [`${files.database}-wal`, "ab"],
    ] as const) {
      writeFileSync(path, text);
      stamps.add(files.stamp());
    }
    expect(stamps.size).toBe(5);
  });

  it("removes a status that it cannot replace", () => {
    const files = indexFolder(folder);
    files.prepare();
    files.writeStatus({ mounts: [], bytes: 1 });
    expect(files.readStatus()).toEqual({ mounts: [], bytes: 1 });
    // A value that JSON cannot hold represents any failure.
    expect(() => files.writeStatus({ mounts: [], bytes: 2n as unknown as number })).toThrow(TypeError);
    expect(files.readStatus()).toBeUndefined();
  });

  it("counts a status as incomplete that its writer has not confirmed for some seconds", () => {
    const files = indexFolder(folder);
    files.prepare();
    const mount = { name: "docs", key: "k", state: "complete", ready: 1 } as MountStatus;
    files.writeStatus({ mounts: [mount], bytes: 1 });
    const seconds = Date.now() / 1000 - 20;
    utimesSync(join(folder, "status.json"), seconds, seconds);
    expect(files.readStatus()?.mounts).toMatchObject([
      { state: "failing", ready: 0.99, lastError: expect.stringMatching(/last updated 2\d s ago by another process/) },
    ]);
    files.confirmStatus();
    expect(files.readStatus()?.mounts).toEqual([mount]);
  });

  it("restores the length of SQLite's shared memory after another program has truncated it", () => {
    const files = indexFolder(folder);
    files.prepare();
    const shared = `${files.database}-shm`;
    writeFileSync(shared, Buffer.alloc(32_768, 1));
    files.guardSharedMemory();
    truncateSync(shared, 10);
    files.guardSharedMemory();
    expect(statSync(shared).size).toBe(32_768);
    // A new file at its path is left alone.
    rmSync(shared);
    files.guardSharedMemory();
    writeFileSync(shared, "");
    files.guardSharedMemory();
    expect(statSync(shared).size).toBe(0);
  });
});
