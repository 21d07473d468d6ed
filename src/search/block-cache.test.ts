import fc from "fast-check";
import { expect, it } from "vitest";
import { createBlockCache } from "./block-cache.ts";

const blockOf = (id: number, length: number): Uint8Array => new Uint8Array(length).fill(id);

it("a block is what was added under its id, or forgotten, and the last one is there", () => {
  const block = fc.tuple(fc.integer({ min: 0, max: 250 }), fc.constantFrom(1, 8000, 300_000, 1024 ** 2));
  fc.assert(
    fc.property(fc.array(block, { maxLength: 40 }), (blocks) => {
      const cache = createBlockCache(2 * 1024 ** 2);
      const added = new Map<number, number>();
      for (const [id, length] of blocks) {
        if (cache.get(id)) continue;
        cache.add(id, blockOf(id, length));
        added.set(id, length);
        expect(cache.get(id)).toEqual(blockOf(id, length));
        for (const [other, size] of added) {
          const found = cache.get(other);
          if (found && (found.length !== size || found.at(-1) !== other)) expect(found).toEqual(blockOf(other, size));
        }
      }
    }),
    // Each run compares megabytes.
    { numRuns: 20 },
  );
});

it("keeps at most as many bytes as it may, the ones that were added last", () => {
  const cache = createBlockCache(2 * 1024 ** 2);
  for (let id = 0; id < 200; id += 1) cache.add(id, blockOf(id, 100_000));
  const kept = Array.from({ length: 200 }, (_, id) => id).filter((id) => cache.get(id));
  expect(kept.length).toBeLessThanOrEqual(20);
  expect(kept.length).toBeGreaterThanOrEqual(10);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => 200 - kept.length + at));
});

it("does not keep a block that is larger than a slice, and forgets all when it is cleared", () => {
  const cache = createBlockCache(2 * 1024 ** 2);
  cache.add(1, blockOf(1, 1024 ** 2 + 1));
  cache.add(2, blockOf(2, 10));
  expect([cache.get(1), cache.get(2)]).toEqual([undefined, blockOf(2, 10)]);
  cache.clear();
  expect(cache.get(2)).toBeUndefined();
  cache.add(2, blockOf(3, 10));
  expect(cache.get(2)).toEqual(blockOf(3, 10));
});
