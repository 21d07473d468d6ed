import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { parseQuery } from "./query.ts";
import { trouble } from "./test-texts.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const ask = (text: string, typing = false) => parseQuery(text, { typing, now });
const terms = (text: string): string[] => ask(text).wanted.map(({ term }) => term);
const refusal = (text: string): string => {
  try {
    ask(text);
  } catch (error) {
    if (error instanceof ResourceError) return `${error.kind}: ${error.message}`;
  }
  return "";
};

describe("words", () => {
  it("are searched as index terms", () =>
    expect(terms("Indexes getUserName")).toEqual(["index", "getusernam", "get", "user", "name"]));
  it("without spaces are searched by every two characters", () => expect(terms("再設定")).toEqual(["再設", "設定"]));
  it("of one character are searched as a prefix", () => {
    expect(ask("犬").wanted).toMatchObject([{ term: "犬", beginning: "犬" }]);
    expect(ask("犬 が").wanted.map(({ beginning }) => beginning)).toEqual(["犬", "が"]);
  });
  it("that are unfinished are searched as a prefix too", () => {
    expect(ask("find configurat", true).wanted).toMatchObject([{ term: "find" }, { beginning: "configurat" }]);
    expect(ask("find configurat ", true).wanted.some(({ beginning }) => beginning)).toBe(false);
    expect(ask("find configurat").wanted.some(({ beginning }) => beginning)).toBe(false);
  });
  it("may hold a colon, a minus and quotation marks", () => {
    expect(terms("http://host a-b --flag don't")).toEqual(["http", "host", "ab", "a", "b", "flag", "don", "t"]);
  });
});

describe("phrases", () => {
  it("stand in quotation marks", () => {
    const { phrases, wanted } = ask('one "two three" “四五”');
    expect(phrases.map((phrase) => phrase.map(({ term }) => term))).toEqual([["two", "three"], ["四五"]]);
    expect(wanted.map(({ term }) => term)).toEqual(["one", "two", "three", "四五"]);
  });
  it("may lack the last mark", () => expect(ask('"two three').phrases).toHaveLength(1));
  it("hold the parts of an identifier, not its whole besides", () => {
    expect(ask('"getUserName"').phrases[0]!.map(({ term, position }) => [term, position])).toEqual([
      ["get", 0],
      ["user", 1],
      ["name", 2],
    ]);
  });
});

it("a minus excludes", () => {
  const { wanted, nots } = ask('one -two -"three four" －五六');
  expect(wanted.map(({ term }) => term)).toEqual(["one"]);
  expect(nots.map((phrase) => phrase.map(({ term }) => term))).toEqual([["two"], ["three", "four"], ["五六"]]);
});

it("filters restrict the search", () => {
  expect(ask('x path:src/lib -path:"old stuff" mime:pdf source:docs LANG:ja').filters).toEqual([
    { name: "path", value: "src/lib", isNot: false },
    { name: "path", value: "old stuff", isNot: true },
    { name: "mime", value: "pdf", isNot: false },
    { name: "source", value: "docs", isNot: false },
    { name: "lang", value: "ja", isNot: false },
  ]);
});

it.each([
  ["after:2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["after:2026-11", "2026-11-01T00:00:00.000Z"],
  ["after:2026-11-01T10:00:00Z", "2026-11-01T10:00:00.000Z"],
  ["after:7d", "2026-11-08T12:00:00.000Z"],
  ["after:2w", "2026-11-01T12:00:00.000Z"],
  ["after:３d", "2026-11-12T12:00:00.000Z"],
  ["after:2026-01-01 after:1d", "2026-11-14T12:00:00.000Z"],
])("%s", (text, expected) => expect(new Date(ask(text).after!).toISOString()).toBe(expected));

it("priority and audience can be filtered", () => {
  expect(ask("x priority:0.5 PRIORITY:.８")).toMatchObject({ priority: 0.8, audience: [] });
  expect(ask("audience:user audience:Assistant")).toMatchObject({ audience: ["user", "assistant"], wanted: [] });
  expect(ask("priority:1 priority:0.2").priority).toBe(1);
});

it.each([
  ["", "invalid: nothing to search for: enter a word"],
  [" -- ?! ", "invalid: nothing to search for: enter a word"],
  ["-only", "invalid: a query needs a word to search for besides those it excludes"],
  ["x after:soon", 'invalid: "after:soon" is not a date: write after:2026-01-31, or after:7d for the last seven days'],
  [
    "x after:2026-13-45",
    'invalid: "after:2026-13-45" is not a date: write after:2026-01-31, or after:7d for the last seven days',
  ],
  ["x -after:7d", 'invalid: "after:" cannot be negated with "-"'],
  ["x -audience:user", 'invalid: "audience:" cannot be negated with "-"'],
  ["x priority:high", 'invalid: "priority:high" is not a priority: write a number from 0 to 1, as in priority:0.8'],
  ["x priority:1.5", 'invalid: "priority:1.5" is not a priority: write a number from 0 to 1, as in priority:0.8'],
  ["x audience:me", 'invalid: "audience:me" is not an audience: write audience:user or audience:assistant'],
  ["x path:", 'invalid: "path:" needs a value directly after the colon'],
  ["x".repeat(10_001), "invalid: a query has at most 10000 characters; this one has 10001"],
  ['"a b" '.repeat(100), "invalid: a query has at most 64 phrases, exclusions and filters"],
])("%j is rejected with a reason", (text, expected) => expect(refusal(text)).toBe(expected));

it("any text is parsed or rejected as invalid", () => {
  fc.assert(
    fc.property(
      fc.oneof(trouble, fc.string({ unit: fc.constantFrom(..."ab設 \"-:“”'\\*()", "path:", "after:", "-") })),
      fc.boolean(),
      (text, typing) => {
        try {
          for (const { term } of ask(text, typing).wanted) expect(term).not.toBe("");
        } catch (error) {
          expect(error).toMatchObject({ kind: "invalid" });
        }
      },
    ),
    { numRuns: 400 },
  );
});
