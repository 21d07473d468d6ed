import { expect, it } from "vitest";
import { createVocabulary, type TermVocabulary } from "./vocabulary.ts";

/** Distinct terms of several scripts and lengths, many with the same first bytes. */
const termAt = (at: number): string => `${["a", "設定", "configur", "サ", "\u{1f600}"][at % 5]}${Math.floor(at / 5)}`;

function numbersOf(vocabulary: TermVocabulary, count: number): number[] {
  return Array.from({ length: count }, (_, at) => vocabulary.numberOfTerm(termAt(at)));
}

it("numbers each term once, however many there are, also after it was cleared", () => {
  const vocabulary = createVocabulary();
  for (const count of [70_000, 20_000]) {
    const numbers = numbersOf(vocabulary, count);
    expect(numbers).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(numbersOf(vocabulary, count)).toEqual(numbers);
    expect(vocabulary.size).toBe(count);
    expect(numbers.every((number, at) => vocabulary.termOf(number) === termAt(at))).toBe(true);
    vocabulary.clear();
  }
});

it("finds the term of a spelling again, while it grows", () => {
  const vocabulary = createVocabulary();
  const find = (at: number): number => {
    const units = Uint16Array.from(`word${at}`, (letter) => letter.charCodeAt(0));
    return vocabulary.numberAt(units, 0, units.length, "word");
  };
  const first = Array.from({ length: 40_000 }, (_, at) => find(at));
  expect(new Set(first).size).toBe(40_000);
  expect(Array.from({ length: 40_000 }, (_, at) => find(at))).toEqual(first);
  expect(first.every((number, at) => vocabulary.termOf(number) === `word${at}`)).toBe(true);
});

it.each([100, 30_000])("sorts %i terms by their bytes", (count) => {
  const vocabulary = createVocabulary();
  const sorted = vocabulary.sort(Int32Array.from(numbersOf(vocabulary, count)));
  const terms = Array.from(sorted, (number) => vocabulary.termOf(number));
  const bytes = new Map(terms.map((term) => [term, Buffer.from(term)]));
  expect(terms).toEqual(terms.toSorted((left, right) => Buffer.compare(bytes.get(left)!, bytes.get(right)!)));
});
