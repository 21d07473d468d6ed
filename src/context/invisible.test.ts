import { describe, expect, it } from "vitest";
import { clean, countIn } from "./clean.ts";
import { removeInvisible } from "./invisible.ts";

describe("an invisible character", () => {
  it.each([
    ["zero-width characters", "pay\u200b\u200c\u200d\u2060\ufeffload", "payload", 5],
    ["controls of direction", "a\u202eb\u2066c\u2069\u200f\u061c", "abc", 5],
    ["tags", "x\u{e0041}\u{e0042}\u{e007f}", "x", 3],
    ["selectors that choose no form", "a\ufe0f\ufe01\u{e0100}\u{e0101}", "a", 4],
    ["fillers and soft hyphens", "a\u3164\u115f\u00adb", "ab", 3],
    ["controls that are no space", "a\u0000\u0008\u001bb\u0085", "ab\u0085", 3],
  ])("is removed: %s", (_, text, left, removed) => {
    expect(removeInvisible(text)).toEqual({ text: left, removed });
  });

  it.each(["👨‍👩‍👧", "❤️", "1️⃣", "می‌خواهم", "क्‍ष", "葛󠄀城", "tab\tand\r\nlines\n"])("stays if it is needed: %j", (text) => {
    expect(removeInvisible(text)).toEqual({ text, removed: 0 });
  });

  it("is counted line by line, and no line moves", () => {
    const text = 'one\u200b\n\u202etwo\u202c\nthree\npassword: "vK7#pQ2x!zR9"\n';
    const cleaned = clean(text);
    expect(cleaned.text).toBe('one\ntwo\nthree\npassword: "[masked]"\n');
    expect([...cleaned.removed]).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect([...cleaned.masked]).toEqual([[4, 1]]);
    expect(countIn(cleaned.removed, [2, 4])).toBe(2);
  });
});
