import fc from "fast-check";
import { expect, it } from "vitest";
import { visibleName, visibleText } from "./visible-text.ts";

it.each([
  ["plain text, 日本語, é and e\u0301", "plain text, 日本語, é and e\u0301"],
  ["\u001b[2Jgone\rover\n", String.raw`\u001b[2Jgone\u000dover\u000a`],
  ["abc\u202edef\u2066", String.raw`abc\u202edef\u2066`],
  ["zero\u200bwidth\ufeff\u3164\u2800", String.raw`zero\u200bwidth\ufeff\u3164\u2800`],
  ["tag\u{e0041}", String.raw`tag\udb40\udc41`],
  ["two  spaces", "two  spaces"],
  ["many    spaces", String.raw`many\u0020\u0020\u0020\u0020spaces`],
  ["wide\u3000and\u00a0fixed", String.raw`wide\u3000and\u00a0fixed`],
  ["o\u0301\u0302\u0303", String.raw`o\u0301\u0302\u0303`],
  ["\ud800", String.raw`\ud800`],
])("%j is shown as %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it("leaves nothing that controls a terminal, and loses nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = visibleText(text);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Bidi_Control}]| {3}/u);
      expect(
        shown.replaceAll(/\\u([0-9a-f]{4})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16))),
      ).toBe(text.replaceAll(/\\u([0-9a-f]{4})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16))));
    }),
  );
});

it("shows names with wide spaces, accents and joined emoji as they are, and escapes what deceives", () => {
  for (const name of ["2026年　報告.md", "e\u0301te\u0301", "👩‍💻.txt", "می‌خواهم.txt", "a  b.txt"])
    expect(visibleName(name)).toBe(name);
  expect(visibleName("evil\u202egnp.txt\n\u200b\ufeff")).toBe(String.raw`evil\u202egnp.txt\u000a\u200b\ufeff`);
});
