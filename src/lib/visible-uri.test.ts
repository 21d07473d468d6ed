import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodedUri, visibleUri } from "./visible-uri.ts";

const characters = [
  ...' aé設葛\u0301<>"`\\%?#/&\n\t\u0000\u001b\u0085\u00a0\u00ad\u200b\u200d\u2028\u202e\u2066\u2800\u3000\ufeff\ufe0f🍵',
  "\u{e0041}",
  "\u{e0100}",
];

describe("a visible URI", () => {
  it.each([
    ["file:///a/%E8%A8%AD%E8%A8%88/%E6%B1%BA%E6%B8%88.md", "file:///a/設計/決済.md"],
    ["file:///a/my%20file%20%5B1%5D.md", "file:///a/my file [1].md"],
    ["file:///a/100%25%20%23%3F%2F.md?as=text", "file:///a/100%25 %23%3F%2F.md?as=text"],
    ["file:///a%0A%23%23%20b", "file:///a%0A%23%23 b"],
    ["x://a/%60%60%60%3C/passage%3E%22", "x://a/%60%60%60%3C/passage%3E%22"],
    ["x://a/ket%E2%80%8Btle%E2%80%AE\u200b.md", "x://a/ket%E2%80%8Btle%E2%80%AE%E2%80%8B.md"],
    ["x://a/%20%20b%20", "x://a/%20%20b%20"],
    ["x://a/%FF%E3%81", "x://a/%FF%E3%81"],
    ["x://a/e%CC%81%CC%81%CC%81", "x://a/e%CC%81%CC%81%CC%81"],
  ])("decodes %j to %j", (uri, shown) => {
    expect(visibleUri(uri)).toBe(shown);
  });

  it("has one line, no character of a frame, and nothing invisible; and it is the same URI", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...characters), { maxLength: 12 }), (some) => {
        const uri = `x://a/${encodeURIComponent(some.join(""))}`;
        const shown = visibleUri(uri);
        expect(shown).not.toMatch(/[<>"`\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/u);
        expect(decodeURIComponent(shown)).toBe(decodeURIComponent(uri));
        expect(decodeURIComponent(encodedUri(shown))).toBe(decodeURIComponent(uri));
      }),
    );
  });
});
