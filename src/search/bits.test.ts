import fc from "fast-check";
import { expect, it } from "vitest";
import { createBits, hasBit, noBits, setBit } from "./bits.ts";

it("has exactly the numbers that were set", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 50 }), (numbers) => {
      const bits = createBits(301);
      for (const number of numbers) setBit(bits, number);
      const has = Array.from({ length: 400 }, (_, number) => number).filter((number) => hasBit(bits, number));
      expect(has).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    }),
  );
});

it("has nothing if it is empty", () => {
  expect(hasBit(noBits, 0)).toBe(false);
  expect(hasBit(createBits(0), 7)).toBe(false);
});
