import { afterAll, describe, expect, it } from "vitest";
import { findGrowth } from "../../test/linear/cpu-growth.ts";
import type { FoundTerm } from "./lookup.ts";
import { createTermMatcher } from "./matches.ts";
import { parseQuery } from "./query.ts";
import { createReranker } from "./rerank.ts";
import { openStore } from "./sqlite-store.ts";
import { createVocabulary } from "./vocabulary.ts";

/** Each term weighs 1, so that two words side by side, four characters long and a space apart, get 2 / (1 + 5 / 20) × the weight of proximity. */
function bonusFor(query: string, absent: readonly string[] = []): (text: string) => number {
  const { wanted } = parseQuery(query);
  const terms = new Map(wanted.filter(({ term }) => !absent.includes(term)).map((one) => [one.term, one]));
  const found = [...terms.values()].map((one): FoundTerm => ({
    wanted: one,
    isTerm: (term) => term === one.term,
    isGuess: false,
    idf: 1,
    lists: [],
  }));
  const matcher = createTermMatcher(found, createVocabulary());
  const bonusOf = createReranker(wanted, found, () => 1);
  return (text) => bonusOf?.(matcher(text)) ?? 0;
}

function document(path: string, text: string, title?: string) {
  return { mount: "m", entry: { path, version: "1", title }, text };
}

describe("the bonus for chunks that stand near each other", () => {
  it("falls with the distance, and ends", () => {
    const bonus = bonusFor("boil kettles");
    const near = bonus("boil a kettle");
    expect(near).toBeGreaterThan(bonus("boil the water in the kettle"));
    expect(bonus("boil the water in the kettle")).toBeGreaterThan(0);
    expect(bonus(`boil ${"water ".repeat(20)} kettle`)).toBe(0);
    expect(bonus("boil and boil")).toBe(0);
    expect(bonus(`boil ${"water ".repeat(20)} kettle, boil a kettle`)).toBe(near);
  });

  it("needs no text if the query has a single chunk", () => {
    const { wanted } = parseQuery("the kettle");
    const found = wanted.map((one): FoundTerm => ({
      wanted: one,
      isTerm: () => true,
      isGuess: false,
      idf: 1,
      lists: [],
    }));
    expect(createReranker(wanted, found, () => 1)).toBeUndefined();
  });

  it("compares runs of kanji and of katakana as wholes", () => {
    const bonus = bonusFor("シベリアから中国大陸まで");
    expect(bonus("シベリア気団は中国大陸を覆う")).toBeGreaterThan(0);
    expect(bonus("シベリア気団は中国の大陸を覆う")).toBe(0);
    expect(bonus("中国大陸とシベリア")).toBeGreaterThan(bonus("中国大陸を広く覆う冬のシベリア"));
  });

  it("finds a run that is wrapped at the end of a line", () => {
    expect(bonusFor("シベリア 中国大陸")("シベリアと中国\n大陸")).toBeGreaterThan(0);
  });

  it("is the same for all widths and forms of a query", () => {
    const text = "シベリア気団は中国大陸を覆う。USB ガイドを読む。";
    for (const query of ["シベリア 中国大陸", "ガイド USB"])
      for (const variant of [query.normalize("NFD"), query.replace("USB", "ＵＳＢ"), query.replace("シベリア", "ｼﾍﾞﾘｱ")])
        expect(bonusFor(variant)(text)).toBe(bonusFor(query)(text));
  });

  it("ignores function words, hiragana and words that only ask", () => {
    expect(bonusFor("what is boil")("what is boil")).toBe(0);
    expect(bonusFor("何年 梅雨")("何年の梅雨")).toBe(0);
    expect(bonusFor("それは梅雨です")("それは梅雨です")).toBe(0);
  });

  it("compares chunks up to three steps apart, those farther apart less", () => {
    const bonus = bonusFor("alpha bravo coral delta eagle");
    expect(bonus("alpha bravo")).toBeGreaterThan(bonus("alpha coral"));
    expect(bonus("alpha coral")).toBeGreaterThan(bonus("alpha delta"));
    expect(bonus("alpha eagle")).toBe(0);
  });

  it("leaves out a chunk that the index does not contain", () => {
    expect(bonusFor("alpha bravo coral", ["bravo"])("alpha coral")).toBe(bonusFor("alpha coral")("alpha coral"));
  });

  it("compares the parts of an identifier", () => {
    expect(bonusFor("getUserName")("the name of a user")).toBeGreaterThan(0);
  });

  it("takes time in proportion to the text, however often it repeats the query", async () => {
    for (const [query, text] of [
      ["alpha bravo coral delta", "alpha bravo coral delta alpha "],
      [`${"亜".repeat(60)} ${"亜".repeat(59)}`, "亜".repeat(30)],
    ] as const) {
      const bonus = bonusFor(query);
      const work = (length: number) => {
        const long = text.repeat(length / text.length);
        return () => bonus(long);
      };
      expect(await findGrowth(work, 1 << 15)).toBeUndefined();
    }
  });
});

describe("proximity in an index", () => {
  const store = openStore(":memory:");
  afterAll(() => store.close());

  it("ranks the passage where the nouns of a query stand together first, and counts titles", () => {
    const filler = "何も関係のない話がここに続いて、さらに続く。".repeat(4);
    store.put([
      document("apart", `決済の話。${filler}期限の話。${filler}`),
      document("together", `${filler}決済の期限の話。話。${filler}`),
      document("title", filler + filler, "決済の期限"),
      document("other", filler),
    ]);
    const paths = store.search({ text: "決済 期限", limit: 10 }).map(({ entry }) => entry.path);
    expect(paths).toEqual(["together", "title", "apart"]);
  });
});
