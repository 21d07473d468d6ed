import { expect, it } from "vitest";
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
  expect((["long", "narrow"] as const).map((style) => ago("2026-11-15T11:57:00Z", now, "ja", style))).toEqual([
    "3分前",
    "3分前",
  ]);
});
