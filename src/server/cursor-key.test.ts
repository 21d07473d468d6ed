import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestStore } from "../state/test-store.ts";
import { cursorKeyName, keyKind, loadCursorKey, loadSharedCursorKey } from "./cursor-key.ts";

let folder: string;
let said: string[];
const tools = { log: (level: string, message: string) => void said.push(`${level}: ${message}`) };

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "pressmark-key-")), "state");
  said = [];
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

describe("the key that cursors are signed with", () => {
  it("is made on first need, for its owner alone, and found again", () => {
    const key = loadCursorKey(folder, tools);
    expect(() => statSync(folder)).toThrow("ENOENT");

    expect(key()).toHaveLength(32);
    expect(key()).toBe(key());
    expect(readdirSync(folder)).toEqual(["cursor-key"]);
    expect(statSync(join(folder, "cursor-key")).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(Buffer.from(loadCursorKey(folder, tools)()).equals(key())).toBe(true);
    expect(said).toEqual([]);
  });

  it("is another in another folder", () => {
    expect(Buffer.from(loadCursorKey(folder, tools)()).equals(loadCursorKey(join(folder, "other"), tools)())).toBe(
      false,
    );
  });

  it("is one for all processes that need it at the same time", async () => {
    const script = `import { loadCursorKey } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "cursor-key.ts")).href)};
      process.stdout.write(Buffer.from(loadCursorKey(${JSON.stringify(folder)}, { log: console.error })()).toString("hex"));`;
    const keys = Array.from({ length: 6 }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
      return stdout;
    });
    const [first, ...others] = await Promise.all(keys);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(others)).toEqual(new Set([first]));
    expect(readdirSync(folder)).toEqual(["cursor-key"]);
  });

  it("replaces a file that holds no key", () => {
    loadCursorKey(folder, tools)();
    writeFileSync(join(folder, "cursor-key"), "short");
    const key = loadCursorKey(folder, tools)();
    expect(key).toHaveLength(32);
    expect(readFileSync(join(folder, "cursor-key")).equals(key)).toBe(true);
    expect(readdirSync(folder)).toEqual(["cursor-key"]);
  });

  it("stays in memory if the folder cannot be written, and logs that once", () => {
    writeFileSync(folder, "a file is in the way");
    const key = loadCursorKey(folder, tools);
    expect(key()).toHaveLength(32);
    expect(key()).toBe(key());
    expect(said).toEqual([
      "warn: the key for cursors cannot be stored, so cursors become invalid when this process ends",
    ]);
  });
});

describe("the shared key of many instances", () => {
  it("is one for all that need it at the same time, and found again", async () => {
    const store = createTestStore();
    const keys = await Promise.all(Array.from({ length: 6 }, () => loadSharedCursorKey(store)));
    expect(keys[0]).toHaveLength(32);
    for (const key of [...keys, await loadSharedCursorKey(store)]) expect(Buffer.from(key).equals(keys[0]!)).toBe(true);
    expect(await store.list(keyKind)).toHaveLength(1);
  });

  it("is refused if it is damaged, because other instances may use another", async () => {
    const store = createTestStore();
    await store.put(keyKind, cursorKeyName, { key: "short" });
    await expect(loadSharedCursorKey(store)).rejects.toThrow(/is damaged; remove the record "cursor"/);
  });
});
