import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import fc from "fast-check";
import { get_encoding as openEncoding } from "tiktoken";
import { afterAll, describe, expect, it } from "vitest";
import { createO200kCount } from "./o200k.ts";

const root = join(import.meta.dirname, "../..");
const original = openEncoding("o200k_base");
afterAll(() => original.free());
const count = createO200kCount(brotliDecompressSync(readFileSync(join(root, "dist/o200k_base.br"))));
const expected = (text: string) => original.encode_ordinary(text).length;

describe("the count of o200k tokens is that of tiktoken", () => {
  it("for every 37th token", () => {
    const decoder = new TextDecoder();
    for (let rank = 0; rank < 199_998; rank += 37) {
      const text = decoder.decode(original.decode_single_token_bytes(rank));
      expect(count(text), JSON.stringify(text)).toBe(expected(text));
    }
  });

  it("for the pages and programs of this repository", () => {
    for (const folder of ["docs", "src/context", "src/picker", "test/linear"])
      for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:md|tsx?)$/.test(file)) continue;
        const text = readFileSync(join(root, folder, file), "utf8");
        expect(count(text), join(folder, file)).toBe(expected(text));
      }
  });

  it.each([
    ["a byte order mark", "\ufeff# Title\n\ufeff \ufeffa"],
    ["a next line character, which is a blank", "a\u0085 \u0085\n\u0085b"],
    ["contractions in any case", "it's IT'S we'Ll I'M it'ſ rock'n'roll 'tis they'RE'"],
    ["half a surrogate pair", "a\ud83db \udc00"],
    ["emoji, accents and marks", "👩‍💻🇯🇵 e\u0301 ガ がく ﬁ Ⅷ ½ ²"],
    ["blanks before words and lines", "  a   b\n   c\r\n\t d   \n\n   "],
    ["a slash after signs", "a //\n// b ///\r\n/"],
  ])("for %s", (_, text) => {
    expect(count(text)).toBe(expected(text));
  });

  it("for texts of all kinds", () => {
    const parts = [
      "the",
      "Ünder",
      "検索",
      "かな",
      "ｶﾞ",
      "'S",
      "'ll",
      " ",
      "\n",
      "\r\n",
      "\u0085",
      "\ufeff",
      "12",
      "٣",
      "//",
      "…",
      "🎉",
    ];
    const texts = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: "grapheme", maxLength: 5 })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(texts, (words) => count(words.join("")) === expected(words.join(""))),
      { numRuns: 3000 },
    );
  });
});
