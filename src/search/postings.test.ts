import fc from "fast-check";
import { expect, it } from "vitest";
import { readTerm } from "./bytes.ts";
import { eachPosting, fields, listsOf } from "./lists.ts";
import { createPostings } from "./postings.ts";
import { createVocabulary } from "./vocabulary.ts";

function sorted<T>(map: Map<string, T>): [string, T][] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

it("returns the postings that were added, term by term and field by field", () => {
  const additions = fc.array(
    fc.record({
      term: fc.constantFrom("a", "b", "tea", "設定", "c"),
      field: fc.nat({ max: fields.length - 1 }),
      gap: fc.oneof(fc.constant(0), fc.nat({ max: 3 }), fc.nat({ max: 100_000 })),
      times: fc.oneof(fc.constant(1), fc.nat({ max: 300 })),
    }),
    { maxLength: 400 },
  );
  const vocabulary = createVocabulary();
  const postings = createPostings(vocabulary);
  fc.assert(
    fc.property(additions, (all) => {
      const wanted = new Map<string, Map<number, number>>();
      let ordinal = 0;
      for (const { term, field, gap, times } of all) {
        ordinal += gap;
        for (let time = 0; time < times; time += 1) {
          postings.add(vocabulary.numberOfTerm(term), field, ordinal);
          const key = `${term} ${field}`;
          const own = wanted.get(key) ?? new Map<number, number>();
          wanted.set(key, own.set(ordinal, (own.get(ordinal) ?? 0) + 1));
        }
      }
      const found = new Map<string, Map<number, number>>();
      const terms: string[] = [];
      postings.take((bytes, length, encoded) => {
        const term = readTerm(bytes, 0, length);
        terms.push(term);
        for (const list of listsOf(encoded, 0, encoded.length)) {
          const own = new Map<number, number>();
          eachPosting(list, (at, times) => own.set(at, times));
          found.set(`${term} ${list.field}`, own);
        }
      });
      expect(sorted(found)).toEqual(sorted(wanted));
      expect(new Set(terms).size).toBe(terms.length);
    }),
    { numRuns: 200 },
  );
});
