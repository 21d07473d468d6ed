/** Finds the kana words of a query in the other kana, and weighs them below the words as typed. */
import { foldText } from "./fold.ts";
import { isFunctionPair } from "./function-words.ts";
import { isHiragana, occurrencesOf } from "./kana-words.ts";
import { body, headingField, path, title } from "./lists.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import type { ParsedQuery } from "./query.ts";
import type { Segment } from "./segments.ts";
import type { PassageReader } from "./texts.ts";
import { searchWeights } from "./weights.ts";

/** Maximum number of texts to read for one query to see whether hiragana there is a word. */
const maxReadings = 256;

/** `typedWorth` returns the weight of a term as typed, undefined if it does not occur. */
export function findOtherKana(
  lookup: Lookup,
  { wanted, otherKana }: Pick<ParsedQuery, "wanted" | "otherKana">,
  texts: PassageReader,
  typedWorth: (term: string) => number | undefined,
): FoundTerm[] {
  let readings = 0;
  /** Katakana is written for words: a passage with all pairs of a word has the word. Hiragana is read, as far as `maxReadings` allows. */
  const find = (
    word: string,
    terms: readonly string[],
    position: number,
    isIn: (text: string) => boolean,
    rest: boolean,
  ) =>
    lookup.findTogether({ term: word, kind: "pair", position, surface: word }, terms, (segment, field, ordinal) => {
      if (!isHiragana(word)) return true;
      if (readings++ >= maxReadings) return rest;
      return textsOf(texts, segment, field, ordinal).some((text) => isIn(foldText(text)));
    });
  return otherKana.flatMap(({ word, terms, typed, typedTerms, position }) => {
    const found = find(word, terms, position, (text) => occurrencesOf(word, text).length > 0, false);
    if (!found) return [];
    const worths = typedTerms.map(typedWorth);
    // A word that nobody wrote as typed has nothing to rank below.
    if (!worths.every((worth) => worth !== undefined))
      return { ...found, word, weight: sum(terms.map((term) => found.idf * pairWeight(term))) };
    const worth = sum(worths);
    if (!wanted.every(({ term }) => typedTerms.includes(term)))
      return { ...found, word, weight: worth * searchWeights.otherKana };
    // The only word of the query: as typed, then in the other kana, then parts of it, wherever they occur.
    const exact = find(typed, typedTerms, position, (text) => text.includes(typed), true);
    return [
      { ...found, word, weight: worth * searchWeights.otherKanaAlone },
      ...(exact ? [{ ...exact, word: typed, weight: worth * searchWeights.typedKanaAlone }] : []),
    ];
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** None for a removed document. */
function textsOf(texts: PassageReader, segment: Segment, field: number, ordinal: number): readonly string[] {
  const document = field <= headingField ? segment.owners[ordinal]! : ordinal;
  const id = segment.documents[document]!;
  const passage = texts.passage(field <= headingField ? id + ordinal - segment.starts[document]! : id);
  if (!passage) return [];
  if (field === body) return [passage.text];
  const { title: ownTitle, name = "", path: address, query = {}, description = "" } = texts.entry(id);
  if (field === title) return [ownTitle ?? name];
  return field === path ? [address, ...Object.values(query)] : [passage.heading, description];
}

/** Weight of a pair of characters, relative to its rarity. */
export function pairWeight(pair: string): number {
  if (isFunctionPair(pair)) return searchWeights.functionPair;
  if (!/[\u3041-\u30ff]/u.test(pair)) return 1;
  return /^[\u3041-\u30ff]+$/u.test(pair) ? searchWeights.kana : searchWeights.halfKana;
}
