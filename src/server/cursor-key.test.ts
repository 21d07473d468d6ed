import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keptKey } from "./cursor-key.ts";

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
    const key = keptKey(folder, tools);
    expect(() => statSync(folder)).toThrow("ENOENT");

    expect(key()).toHaveLength(32);
    expect(key()).toBe(key());
    expect(readdirSync(folder)).toEqual(["cursor-key"]);
    expect(statSync(join(folder, "cursor-key")).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(Buffer.from(keptKey(folder, tools)()).equals(key())).toBe(true);
    expect(said).toEqual([]);
  });

  it("is another in another folder", () => {
    expect(Buffer.from(keptKey(folder, tools)()).equals(keptKey(join(folder, "other"), tools)())).toBe(false);
  });

  it("replaces a file that holds no key", () => {
    keptKey(folder, tools)();
    writeFileSync(join(folder, "cursor-key"), "short");
    const key = keptKey(folder, tools)();
    expect(key).toHaveLength(32);
    expect(readFileSync(join(folder, "cursor-key")).equals(key)).toBe(true);
    expect(readdirSync(folder)).toEqual(["cursor-key"]);
  });

  it("lives in memory where the folder cannot be written, and says so once", () => {
    writeFileSync(folder, "a file is in the way");
    const key = keptKey(folder, tools);
    expect(key()).toHaveLength(32);
    expect(key()).toBe(key());
    expect(said).toEqual(["warn: the key for cursors cannot be kept, so cursors end with this process"]);
  });
});
