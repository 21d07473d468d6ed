import fc from "fast-check";
import { expect, it } from "vitest";
import {
  addName,
  createWatchedNames,
  deleteName,
  fillNames,
  foldNames,
  hasName,
  isEmpty,
  listNames,
  seenOf,
} from "./watch-names.ts";

const name = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }),
    fc.nat(2000).map((number) => `file-${number}.txt`),
    fc.constantFrom("日本語", "日本", "日本酒", "e\u0301", "é", "🙂", "🙃", "\u002e.", "\u0001", "\u00ff"),
  )
  .filter((text) => !text.includes("/"));

it("names and signatures survive compression", () => {
  fc.assert(
    fc.property(fc.dictionary(name, fc.double({ noNaN: true, min: 0 })), fc.array(name), (wanted, removed) => {
      const names = createWatchedNames();
      const expected = new Map(Object.entries(wanted));
      for (const [each, seen] of expected) addName(names, each, seen);
      foldNames(names);
      for (const each of removed) {
        deleteName(names, each);
        expected.delete(each);
      }
      foldNames(names);
      expect([...listNames(names)].sort()).toEqual([...expected.keys()].sort());
      for (const [each, seen] of expected) expect(seenOf(names, each)).toBe(seen);
      for (const each of removed) expect(hasName(names, each)).toBe(false);
      expect(isEmpty(names)).toBe(expected.size === 0);
    }),
  );
});

it("names that are filled in together are stored compressed", () => {
  fc.assert(
    fc.property(fc.uniqueArray(name), (all) => {
      const names = createWatchedNames();
      fillNames(names, all);
      expect(names.unfolded).toBeUndefined();
      expect([...listNames(names)].sort()).toEqual([...all].sort());
      for (const each of all) expect(hasName(names, each)).toBe(true);
    }),
  );
});

it("numbered names take a fraction of their length", () => {
  const names = createWatchedNames();
  const all = Array.from({ length: 1000 }, (_, index) => `a-rather-long-beginning-${index}.markdown`);
  fillNames(names, all);
  expect(names.text.length).toBeLessThan(all.join("/").length / 2);
});
