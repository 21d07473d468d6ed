import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyPaths } from "./key-paths.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const { pathOf, keyOf, prefixBelow, hasMoreParts } = createKeyPaths(":");

describe("keys as paths", () => {
  it.each([
    ["user:1:friends", "user/1/friends"],
    ["plain", "plain"],
    ["a/b:c", "a\0b/c"],
    ["", "\\e"],
    [":", "\\e/\\e"],
    ["a::b", "a/\\e/b"],
    ["a:", "a/\\e"],
    ["..:.", "\\x2e\\x2e/\\x2e"],
    ["\xff\x00", "\\xff\\x00"],
    ["caf\xc3\xa9", "café"],
    ["\xe6\x97\xa5\xff", "日\\xff"],
    ["\\e", "\\x5ce"],
    ["\\xff", "\\x5cxff"],
    ["C:\\new", "C/\\new"],
    ["100%", "100%"],
    ["with space", "with space"],
  ])("%j is at %j", (key, path) => {
    expect(pathOf(bytes(key))).toBe(path);
    expect(keyOf(path)).toEqual(bytes(key));
  });

  it.each(["", "user:1", "a//b", "a/", "/a", "\\x41", "\\xe3\\x81\\x82", "."])("%j is the path of no key", (path) => {
    expect(keyOf(path)).toBeUndefined();
  });

  const pieces = fc.constantFrom(
    "a",
    ":",
    "/",
    "\\",
    "x",
    "e",
    "5c",
    "ff",
    ".",
    "\0",
    "\xff",
    "\xc3",
    "\xa9",
    "%",
    " ",
    "🦊",
  );
  const keys = fc.oneof(
    fc
      .array(pieces, { maxLength: 12 })
      .map((all) => Buffer.concat(all.map((each) => (each === "🦊" ? Buffer.from(each) : bytes(each))))),
    fc.uint8Array({ maxLength: 40 }).map((all) => Buffer.from(all)),
    fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
  );

  it.each([":", "/", "::", "--", "日"])(
    "every key comes back from its path, and every child has its prefix (%s)",
    (separator) => {
      const paths = createKeyPaths(separator);
      fc.assert(
        fc.property(keys, (key) => {
          const path = paths.pathOf(key);
          expect(paths.keyOf(path)).toEqual(key);
          expect(path.split("/")).not.toContain("");
          expect(path.isWellFormed()).toBe(true);
          for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
            const prefix = paths.prefixBelow(path.slice(0, slash));
            expect(prefix && key.subarray(0, prefix.length)).toEqual(prefix);
            expect(prefix).toBeDefined();
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each([
    ["", 1],
    ["a", 1],
    ["a:", 2],
    ["::", 3],
    ["a:b:c", 3],
  ])("%j has %i parts", (key, parts) => {
    expect(hasMoreParts(bytes(key), parts)).toBe(false);
    expect(hasMoreParts(bytes(key), parts - 1)).toBe(parts > 1);
  });

  it("knows where nothing can be below", () => {
    expect(prefixBelow("")).toEqual(Buffer.alloc(0));
    expect(prefixBelow("user:1")).toBeUndefined();
    expect(createKeyPaths("::").prefixBelow("a:")).toBeUndefined();
  });
});
