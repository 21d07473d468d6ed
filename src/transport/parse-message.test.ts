import { describe, expect, it } from "vitest";
import { maxMessageDepth, parseMessageBytes } from "./parse-message.ts";

const parse = (text: string) => parseMessageBytes(Buffer.from(text));
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("parseMessage", () => {
  it("returns the JSON value", () => {
    expect(parse('{"a":["日本語 🎉"]}')).toEqual({ ok: true, body: { a: ["日本語 🎉"] } });
  });

  it("refuses what is not UTF-8 instead of guessing", () => {
    expect(parseMessageBytes(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toEqual({
      ok: false,
      message: "the message is not UTF-8",
    });
  });

  it("refuses what is not JSON, and does not repeat it", () => {
    for (const text of ["", "{", "nope", '{"a":1}{"b":2}', "\uFEFF{}", "[".repeat(900)])
      expect(parse(text)).toEqual({ ok: false, message: "the message is not JSON" });
  });

  it("allows as much nesting as it promises, and no more", () => {
    expect(parse(nested(maxMessageDepth)).ok).toBe(true);
    expect(parse(nested(maxMessageDepth + 1))).toEqual({
      ok: false,
      message: "the message nests deeper than 512 levels",
    });
  });

  it("survives millions of brackets", () => {
    expect(parse("[".repeat(4_000_000)).ok).toBe(false);
    expect(parse('{"a":'.repeat(800_000)).ok).toBe(false);
  });

  it("does not count brackets inside strings", () => {
    const text = JSON.stringify({ a: `"\\${"[{".repeat(2000)}`, b: "\\" });
    expect(parse(text)).toEqual({ ok: true, body: JSON.parse(text) });
  });
});
