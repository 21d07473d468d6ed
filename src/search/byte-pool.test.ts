import fc from "fast-check";
import { expect, it } from "vitest";
import { createBytePool } from "./byte-pool.ts";

it("copies keep their bytes until the pool is cleared, also when the original changes", () => {
  const length = fc.oneof(
    { weight: 8, arbitrary: fc.nat(5000) },
    fc.constantFrom(1024 ** 2 - 1, 1024 ** 2, 1024 ** 2 + 1),
  );
  fc.assert(
    fc.property(fc.array(fc.array(length, { maxLength: 12 }), { maxLength: 4 }), (rounds) => {
      const pool = createBytePool();
      for (const lengths of rounds) {
        pool.clear();
        const copies = lengths.map((size, at) => {
          const original = new Uint8Array(size + 2).fill(at + 1);
          const copy = pool.copy(original, 1, size + 1);
          original.fill(0);
          return copy;
        });
        copies.forEach((copy, at) => {
          expect(copy.length).toBe(lengths[at]);
          if (!copy.every((byte) => byte === at + 1)) expect(copy).toEqual(new Uint8Array(lengths[at]!).fill(at + 1));
        });
      }
    }),
  );
});
