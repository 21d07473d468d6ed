import { expect, it } from "vitest";
import { stem } from "./stem.ts";

it.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["feed", "feed"],
  ["agreed", "agre"],
  ["plastered", "plaster"],
  ["motoring", "motor"],
  ["sing", "sing"],
  ["conflated", "conflat"],
  ["hopping", "hop"],
  ["falling", "fall"],
  ["filing", "file"],
  ["happy", "happi"],
  ["relational", "relat"],
  ["digitizer", "digit"],
  ["hopefulness", "hope"],
  ["electrical", "electr"],
  ["adjustment", "adjust"],
  ["adoption", "adopt"],
  ["rate", "rate"],
  ["controlling", "control"],
])("%s becomes %s", (word, expected) => expect(stem(word)).toBe(expected));

it("words of one family have one stem", () => {
  expect(new Set(["connect", "connected", "connecting", "connection", "connections"].map(stem)).size).toBe(1);
});

it("words that are not English stay unchanged", () => {
  expect(["설정", "utf8", "größe", "is", "x".repeat(40)].map(stem)).toEqual([
    "설정",
    "utf8",
    "größe",
    "is",
    "x".repeat(40),
  ]);
});
