import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCursors } from "./cursor.ts";
import type { Position } from "./cursor.ts";

const key = new Uint8Array(32).fill(7);
const cursors = createCursors(key);
const position: Position = { mount: "docs", cursor: "a", last: { path: "a/b" }, page: 3 };
const refusal = expect.objectContaining({
  kind: "invalid",
  message: "the cursor is not valid for this list; start again from the first page",
});

describe("a cursor", () => {
  it("opens to the position that it was made for", () => {
    const text = fc.string({ unit: "binary" });
    const anyPosition = fc
      .tuple(text, fc.nat(), fc.option(text), fc.option(text), fc.option(fc.dictionary(text, text)))
      .map(([mount, page, cursor, path, query]): Position => ({
        mount,
        page,
        ...(cursor !== null && { cursor }),
        ...(path !== null && { last: { path, ...(query && { query }) } }),
      }));
    fc.assert(
      fc.property(anyPosition, text, (one, question) => {
        const cursor = cursors.seal(one, question);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(JSON.stringify(cursors.open(cursor, question))).toBe(JSON.stringify(one));
      }),
    );
  });

  it("is equal for the same position, also after a restart with the same key", () => {
    expect(createCursors(new Uint8Array(key)).seal(position, "list")).toBe(cursors.seal({ ...position }, "list"));
  });

  it("differs for another position or request", () => {
    const seen = new Set([
      cursors.seal(position, "list"),
      cursors.seal({ ...position, page: 4 }, "list"),
      cursors.seal({ ...position, cursor: "b" }, "list"),
      cursors.seal(position, "children"),
    ]);
    expect(seen.size).toBe(4);
  });

  it("does not reveal what it holds, not even by its length", () => {
    const short = cursors.seal({ mount: "m", cursor: "x", page: 1 }, "list");
    const long = cursors.seal({ mount: "m", cursor: "secret".repeat(10), page: 1 }, "list");
    expect(long.length).toBe(short.length);
    expect(Buffer.from(long, "base64url").includes("secret")).toBe(false);
  });

  it("is invalid for another request", () => {
    expect(() => cursors.open(cursors.seal(position, "list"), "children")).toThrow(refusal);
  });

  it("does not open with another key", () => {
    const other = createCursors(new Uint8Array(32).fill(8));
    expect(() => other.open(cursors.seal(position, "list"), "list")).toThrow(refusal);
  });

  it("cannot be changed in any bit, cut or lengthened", () => {
    const cursor = cursors.seal(position, "list");
    const bytes = Buffer.from(cursor, "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const forged = Buffer.from(bytes);
      forged[at] = (forged[at] ?? 0) ^ (1 << (at % 8));
      expect(() => cursors.open(forged.toString("base64url"), "list")).toThrow(refusal);
    }
    for (let length = 0; length < cursor.length; length += 1) {
      expect(() => cursors.open(cursor.slice(0, length), "list")).toThrow(refusal);
    }
    expect(() => cursors.open(`${cursor}A`, "list")).toThrow(refusal);
  });

  it.each(["", " ", "0", "null", "=", "AQ", "💥", "x".repeat(1_000_000)])("cannot be forged: %.20s", (text) => {
    expect(() => cursors.open(text, "list")).toThrow(refusal);
  });

  it("has one text form", () => {
    const cursor = cursors.seal(position, "list");
    const twin = cursor.replaceAll("-", "+").replaceAll("_", "/");
    expect(twin).not.toBe(cursor);
    for (const other of [`${cursor}=`, ` ${cursor}`, `${cursor}\n`, twin]) {
      expect(() => cursors.open(other, "list")).toThrow(refusal);
    }
  });

  it("is not made for a position that would be too long to pass back", () => {
    expect(() => cursors.seal({ ...position, cursor: "x".repeat(100_000) }, "list")).toThrow("too long for a cursor");
  });

  it("needs a key of 32 bytes", () => {
    expect(() => createCursors(new Uint8Array(16))).toThrow("must have 32 bytes; it has 16");
  });
});
