import { describe, expect, it } from "vitest";
import { Lru } from "./lru.ts";

describe("a map of the most recently used entries", () => {
  it("drops the least recently used entry first", () => {
    const lru = new Lru<string, number>({ maxEntries: 2 });
    lru.set("a", 1).set("b", 2);
    lru.get("a");
    lru.set("c", 3);
    expect([...lru]).toEqual([
      ["a", 1],
      ["c", 3],
    ]);
    lru.set("a", 4).set("d", 5);
    expect([...lru.keys()]).toEqual(["a", "d"]);
  });

  it("holds no more than its size, whatever is set, replaced or deleted", () => {
    const lru = new Lru<number, string>({ maxSize: 100, sizeOf: (value) => value.length });
    for (let step = 0; step < 5000; step += 1) {
      const key = (step * 7) % 31;
      if (step % 5 === 0) lru.delete(key);
      else lru.set(key, "x".repeat((step * 13) % 60));
      if (step % 997 === 0) lru.clear();
      expect([...lru.values()].join("").length).toBeLessThanOrEqual(100);
    }
    // A wrong sum would leave no space here.
    for (let key = 0; key < 31; key += 1) lru.delete(key);
    lru.set(1, "x".repeat(100));
    expect(lru.size).toBe(1);
  });

  it("does not store an entry larger than the limit, nor the one that it replaces", () => {
    const lru = new Lru<string, string>({ maxSize: 3, sizeOf: (value) => value.length });
    lru.set("a", "xxx").set("b", "").set("a", "xxxx");
    expect([...lru.keys()]).toEqual(["b"]);
  });
});
