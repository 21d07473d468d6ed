import { expect, it } from "vitest";
import { piecesOf } from "./pieces.ts";
import { ago, languageFor } from "./texts.ts";

it("the page uses the person's first supported language", () => {
  expect([["ja-JP"], ["fr", "ja"], ["en-GB", "ja"], ["fr"], []].map((tags) => languageFor(tags).code)).toEqual([
    "ja",
    "ja",
    "en",
    "en",
    "en",
  ]);
});

it("times are relative to now; an invalid one is empty", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  expect(
    ["2026-11-15T11:57:00Z", "2026-11-14T12:00:00Z", "2026-11-15T12:00:09Z", "soon"].map((iso) => ago(iso, now, "en")),
  ).toEqual(["3 minutes ago", "yesterday", "now", ""]);
});

it("a long text is cut after lines, never within a character, and loses nothing", () => {
  for (const text of ["line\n".repeat(40_000), "😀".repeat(60_000), `x${"😀".repeat(60_000)}`, ""]) {
    const pieces = piecesOf(text);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  }
});
