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

it.each([
  "key keys keyed keying",
  "day days",
  "id ids",
  "ad ads",
  "use uses used using",
  "age ages aged aging",
  "owe owes owed",
  "add adds added adding",
  "err errs erred erring",
  "try tries tried",
  "tie ties tied",
  "deploy deploys deployed deploying deployment",
  "query queries queried",
  "cpu cpus",
  "log logs logged logging",
  "run runs running",
])("%s agree", (family) => expect(new Set(family.split(" ").map(stem)).size).toBe(1));

it.each([
  "as a",
  "is i",
  "us use u",
  "its it",
  "was wa",
  "this thi",
  "bus bu",
  "gas ga",
  "news new",
  "ios io",
  "dns dn",
  "css cs",
  "any ani",
  "day dai",
  "add ad",
  "used us",
])("%s stay apart", (words) => expect(new Set(words.split(" ").map(stem)).size).toBe(words.split(" ").length));

it("words that are not English stay unchanged", () => {
  expect(["설정", "utf8", "größe", "is", "x".repeat(40)].map(stem)).toEqual([
    "설정",
    "utf8",
    "größe",
    "is",
    "x".repeat(40),
  ]);
});
