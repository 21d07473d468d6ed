import { describe, expect, it } from "vitest";
import { cutToWidth, displayWidth, padToWidth } from "./display-width.ts";

describe("the width of a text", () => {
  it.each([
    ["nothing", "", 0],
    ["ASCII", "README.md", 9],
    ["Latin with accents", "naïve café", 10],
    ["accents that stand apart", "naïve café".normalize("NFD"), 10],
    ["Greek and Cyrillic, which are ambiguous", "αж…①", 4],
    ["kanji and kana", "日本語かな", 10],
    ["kana whose marks stand apart", "がぎぐパピプ".normalize("NFD"), 12],
    ["halfwidth katakana with its own marks", "ﾊﾟﾋﾟ", 4],
    ["fullwidth letters", "ＡＢＣ", 6],
    ["CJK punctuation", "「、。」", 8],
    ["CJK beyond the first plane", "𠮷𩸽", 4],
    ["Hangul", "한국어", 6],
    ["Hangul in its letters", "한국어".normalize("NFD"), 6],
    ["Devanagari with vowel signs", "कु", 1],
    ["an emoji", "🎉", 2],
    ["a sign that is shown as an emoji", "❤️", 2],
    ["the same sign as text", "❤", 1],
    ["a family joined into one", "👨‍👩‍👧‍👦", 2],
    ["a skin tone", "👍🏽", 2],
    ["a flag", "🇯🇵", 2],
    ["two flags", "🇯🇵🇩🇪", 4],
    ["a flag spelled with tags", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2],
    ["a keycap", "1️⃣", 2],
    ["all of them together", "日本🇯🇵a👍🏽é", 4 + 2 + 1 + 2 + 1],
    ["joiners outside of pictures", "नी‍ल", 3],
    ["a mark alone", "\u0301", 0],
    ["a lone half of a pair", "\ud83d", 0],
  ])("counts %s", (_, text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it("does not change when a text is composed or decomposed", () => {
    for (const text of ["ガラス.txt", "Ängström", "대한민국", "ấ"])
      expect(displayWidth(text.normalize("NFD"))).toBe(displayWidth(text.normalize("NFC")));
  });

  it("of ten thousand characters is computed quickly", () => {
    expect(displayWidth("日".repeat(10_000))).toBe(20_000);
    expect(displayWidth(`a${"\u0301".repeat(10_000)}`)).toBe(1);
    expect(displayWidth("🇯🇵".repeat(5000))).toBe(10_000);
  });
});

describe("padding", () => {
  it("counts cells, on either side", () => {
    expect(padToWidth("日本", 6)).toBe("日本  ");
    expect(padToWidth("日本", 6, "before")).toBe("  日本");
    expect(padToWidth("too long", 3)).toBe("too long");
  });
});

describe("cutting", () => {
  it("keeps what fits, and never half of a character", () => {
    expect(cutToWidth("short", 5)).toBe("short");
    expect(cutToWidth("longer", 5)).toBe("long…");
    expect(cutToWidth("日本語の名前", 6)).toBe("日本…");
    expect(cutToWidth("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3)).toBe("👨‍👩‍👧‍👦…");
    expect(cutToWidth("word", 0)).toBe("");
  });
});
