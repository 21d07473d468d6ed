import fc from "fast-check";
import { expect, it } from "vitest";
import { compareAddresses } from "../lib/address-order.ts";
import { fromKey, keysBelow, readQuery, encodeQuery, toKey } from "./address-key.ts";

const path = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."/ab-. \0\u0001\u007f\u0080~é日\ufffd\uffff", "😀", "\ud800"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});

it("keys compare as addresses do", () => {
  fc.assert(
    fc.property(path, path, (left, right) => {
      expect(Math.sign(Buffer.compare(toKey(left), toKey(right)))).toBe(Math.sign(compareAddresses(left, right)));
    }),
    { numRuns: 1000 },
  );
});

it("a key can be converted back to its path", () => {
  fc.assert(
    fc.property(path, (one) => {
      expect(fromKey(toKey(one))).toBe(one);
    }),
  );
});

it("the range of keys below a path holds exactly the paths below it", () => {
  fc.assert(
    fc.property(path, path, (folder, other) => {
      const [from, to] = keysBelow(folder);
      const key = toKey(other);
      const isBelow = folder === "" ? other !== "" : other.startsWith(`${folder}/`);
      expect(Buffer.compare(from, key) <= 0 && Buffer.compare(key, to) < 0).toBe(isBelow);
    }),
    { numRuns: 1000 },
  );
});

it("a query has one text form, whatever the order of its names", () => {
  expect(encodeQuery({ b: "2", a: "1" })).toBe(encodeQuery({ a: "1", b: "2" }));
  expect(readQuery(encodeQuery({ b: "2", a: "1" }))).toEqual({ a: "1", b: "2" });
  expect([encodeQuery(undefined), encodeQuery({}), readQuery("")]).toEqual(["", "", undefined]);
});
