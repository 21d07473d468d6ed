import { existsSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeLease } from "../../search/lease.ts";
import { indexLocation } from "./index-location.ts";
import { markUsed, removeIndex, sweep } from "./unused-indexes.ts";

let cache: string;
const now = Date.now();
const longAgo = now / 1000 - 31 * 86_400;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "pressmark-cache-"));
});

afterEach(() => rmSync(cache, { recursive: true, force: true }));

function make(config: string): string {
  const folder = indexLocation(cache, { config });
  markUsed(folder, { config });
  writeFileSync(join(folder, "index.db"), "");
  return folder;
}

describe("unused indexes", () => {
  it("has one place for each project, in whatever order its folders are named", () => {
    expect(indexLocation(cache, { folders: ["/a", "/b"] })).toBe(indexLocation(cache, { folders: ["/b", "/a"] }));
    expect(indexLocation(cache, { folders: ["/a"] })).not.toBe(indexLocation(cache, { folders: ["/b"] }));
    expect(indexLocation(cache, { config: "/a" })).not.toBe(indexLocation(cache, { folders: ["/a"] }));
  });

  // Windows has no modes: there the location protects the folder.
  it.skipIf(process.platform === "win32")("is for its owner alone", () => {
    expect(statSync(make("/a")).mode & 0o777).toBe(0o700);
  });

  it("keeps what was used, and what is in use, and loses the rest", () => {
    const [used, unused, kept] = [make("/used"), make("/unused"), make("/kept")];
    for (const folder of [unused, kept]) utimesSync(join(folder, "about.json"), longAgo, longAgo);
    writeFileSync(join(cache, "index", "something else"), "");
    utimesSync(join(cache, "index", "something else"), longAgo, longAgo);
    const lease = takeLease(join(kept, "lock.db"));
    expect(sweep(cache, now)).toEqual([unused]);
    expect([used, unused, kept, join(cache, "index", "something else")].map(existsSync)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    lease?.release();
    expect(sweep(cache, now)).toEqual([kept]);
    expect(sweep(join(cache, "nowhere"), now)).toEqual([]);
  });

  it("gives nothing away that another process keeps", () => {
    const folder = make("/a");
    const lease = takeLease(join(folder, "lock.db"));
    expect(() => removeIndex(folder)).toThrow("another process maintains this index; stop it first");
    lease?.release();
    removeIndex(folder);
    expect(existsSync(folder)).toBe(false);
    removeIndex(folder);
  });
});
