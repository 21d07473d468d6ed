import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LineRange } from "./arguments.ts";
import { beginning, takeBytes, excerptLines } from "./part.ts";

const texts = fc
  .array(fc.oneof(fc.constantFrom("\n", "\r\n", "a", "語", "🖋️", "é"), fc.string({ unit: "binary", maxLength: 5 })), {
    maxLength: 60,
  })
  .map((pieces) => pieces.join("").toWellFormed());
const room = fc.integer({ min: 4, max: 40 });
const whole = (text: string) => ({ text, firstLine: 1, countsBytes: true });

/** Continues to the end, as a model would. */
function readAll(text: string, maxBytes: number): string {
  let said = "";
  let range: LineRange | undefined;
  for (let turn = 0; turn < 500; turn += 1) {
    const given =
      range?.unit === "bytes" ? takeBytes(text, range, maxBytes) : excerptLines(whole(text), range, maxBytes);
    if (!given) throw new Error(`nothing at ${JSON.stringify(range)}`);
    expect(Buffer.byteLength(given.text)).toBeLessThanOrEqual(maxBytes + 3);
    expect(given.text.isWellFormed()).toBe(true);
    said += given.text;
    if (!given.next) return said;
    range = given.next;
  }
  throw new Error("it does not end");
}

describe("a text in parts", () => {
  it("is whole again when every next range is read", () => {
    fc.assert(
      fc.property(texts, room, (text, maxBytes) => {
        expect(readAll(text, maxBytes)).toBe(text);
      }),
    );
  });

  it("reports its lines, the total, and where to continue", () => {
    const text = "one\ntwo\nthree\nfour\n";
    expect(excerptLines(whole(text), { unit: "lines", first: 2, last: 3 }, 100)).toEqual({
      text: "two\nthree\n",
      range: { unit: "lines", first: 2, last: 3, total: 4 },
      next: { unit: "lines", first: 4, last: 5 },
    });
    expect(excerptLines(whole(text), { unit: "lines", first: 2, last: 4 }, 10)).toEqual({
      text: "two\nthree\n",
      range: { unit: "lines", first: 2, last: 3, total: 4 },
      next: { unit: "lines", first: 4, last: 4 },
    });
    expect(excerptLines(whole(text), undefined, 100)).toEqual({ text });
  });

  it("has nothing beyond its end", () => {
    expect(excerptLines(whole("one\n"), { unit: "lines", first: 2, last: 3 }, 100)).toBeUndefined();
    expect(takeBytes("one\n", { unit: "bytes", first: 4, last: 9 }, 100)).toBeUndefined();
    expect(excerptLines(whole(""), undefined, 100)).toEqual({ text: "" });
  });

  it("goes on by lines behind one that is too long, where no one can say at which byte it is", () => {
    const part = { text: `${"x".repeat(50)}\nafter\n`, firstLine: 7, countsBytes: false };
    expect(excerptLines(part, undefined, 20)).toEqual({
      text: "x".repeat(20),
      range: { unit: "lines", first: 7, last: 7 },
      next: { unit: "lines", first: 8, last: 8 },
      brokenLine: 7,
    });
    expect(excerptLines({ ...part, text: "x".repeat(50) }, undefined, 20)).not.toHaveProperty("next");
  });
});

it("the beginning of a text never ends in half of a character", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 30 }), (text, maxBytes) => {
      const kept = beginning(text, maxBytes);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
      // One more character would not have fitted.
      const next = String.fromCodePoint(text.codePointAt(kept.length) ?? 0);
      if (kept !== text) expect(Buffer.byteLength(kept + next)).toBeGreaterThan(maxBytes);
    }),
  );
});
