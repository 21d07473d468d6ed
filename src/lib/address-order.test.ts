import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareAddresses } from "./address-order.ts";

describe("the order of addresses", () => {
  it("puts a directory directly before its content", () => {
    const paths = ["a-b", "a0", "a/z", "a", "a/b", "", "a\0b", "b"];
    expect(paths.sort(compareAddresses)).toEqual(["", "a", "a/b", "a/z", "a\0b", "a-b", "a0", "b"]);
  });

  it("compares code units, not by language", () => {
    expect(["ä", "z", "Z", "a", "é", "日"].sort(compareAddresses)).toEqual(["Z", "a", "z", "ä", "é", "日"]);
  });

  it("equals the order of the lists of segments", () => {
    const segment = fc.string({ unit: fc.constantFrom("a", "b", "-", ".", "\0", "日", "\u{1f600}") });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1 }), fc.array(segment, { minLength: 1 }), (left, right) => {
        const expected = compareLists(left, right);
        expect(Math.sign(compareAddresses(left.join("/"), right.join("/")))).toBe(expected);
      }),
    );
  });
});

function compareLists(left: readonly string[], right: readonly string[]): number {
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const [a, b] = [left[at] ?? "", right[at] ?? ""];
    if (a !== b) return a < b ? -1 : 1;
  }
  return Math.sign(left.length - right.length);
}
