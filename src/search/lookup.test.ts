import { expect, it } from "vitest";
import { body, createListWriter, type List, listsOf } from "./lists.ts";
import { openLookup, openVisibleTerms } from "./lookup.ts";
import type { Segment, Segments } from "./segments.ts";

const passages = 50_000;

/** An index of one segment. Records the terms that are looked up, and those whose postings are read. */
function openTerms(terms: Readonly<Record<string, readonly number[]>>) {
  const found: string[] = [];
  const read: string[] = [];
  const segment = { lengths: new Uint8Array(passages), tokens: passages } as unknown as Segment;
  const lists = new Map(
    Object.entries(terms).map(([term, ordinals]) => {
      const writer = createListWriter();
      for (const ordinal of ordinals) writer.add(body, ordinal, 1);
      const bytes = writer.take().slice();
      const [list] = listsOf(bytes, 0, bytes.length);
      const watched: List = {
        ...list!,
        get bytes() {
          read.push(term);
          return bytes;
        },
      };
      return [term, [watched]];
    }),
  );
  const stored = {
    load: () => [segment],
    find(_: Segment, term: string) {
      found.push(term);
      return lists.get(term) ?? [];
    },
  };
  const lookup = openLookup(openVisibleTerms(stored as unknown as Segments));
  return {
    found,
    read,
    together: (...all: string[]) =>
      lookup.findTogether({ term: "", kind: "pair", position: 0, surface: "" }, all, () => true)?.lists[0]?.[0]?.count,
  };
}

it("finds where several terms occur together, and looks up each once", () => {
  const { found, together } = openTerms({ さく: [1, 3, 5, 7], くら: [0, 3, 4, 7, 9], らげ: [7] });
  expect([together("さく", "くら"), together("くら", "らげ"), together("さく", "くら", "らげ")]).toEqual([2, 1, 1]);
  expect(together("さく", "ない")).toBeUndefined();
  expect(found).toEqual(["さく", "くら", "らげ", "ない"]);
});

it("reads no postings of further terms once nothing is left", () => {
  const { read, together } = openTerms({ さく: [1], くら: [2, 3], らげ: [1, 2, 3] });
  expect(together("らげ", "くら", "さく")).toBeUndefined();
  expect(read).toEqual(["さく", "くら"]);
});

it("reads a limited number of postings for one query, and finds no more words then", () => {
  const everywhere = Array.from({ length: passages }, (_, at) => at);
  const { read, together } = openTerms({ しま: everywhere, まし: everywhere });
  const counts = Array.from({ length: 100 }, () => together("しま", "まし"));
  expect([counts[0], counts.at(-1)]).toEqual([passages, undefined]);
  expect(read.length * passages).toBeLessThanOrEqual(2_000_000);
});
