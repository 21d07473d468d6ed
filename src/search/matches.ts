/** Finds the terms of a query in one passage. */
import type { ContentWord } from "./content-words.ts";
import { fold, foldedText, foldText } from "./fold.ts";
import { occurrencesOf } from "./kana-words.ts";
import type { FoundTerm } from "./lookup.ts";
import type { Phrase } from "./query-terms.ts";
import { scan, tokenAt, tokenize, type Token } from "./tokens.ts";
import type { TermVocabulary } from "./vocabulary.ts";

export interface TermMatch {
  readonly found: FoundTerm;
  /** Index among the found terms. */
  readonly index: number;
  readonly token: Token;
}

/** Returns the matches in a passage, in text order. */
type Matcher = (text: string) => TermMatch[];

/** The vocabulary only serves to compare by number, and may hold anything. */
export function createTermMatcher(found: readonly FoundTerm[], vocabulary: TermVocabulary): Matcher {
  /** From the number of a term to the found term that it matches. */
  const known = new Map<number, number>();
  const others: number[] = [];
  const words: { readonly index: number; readonly word: string }[] = [];
  found.forEach((one, index) => {
    if (one.word !== undefined) words.push({ index, word: one.word });
    else if (one.wanted.beginning !== undefined || one.isGuess) others.push(index);
    else {
      const number = vocabulary.numberOfTerm(one.wanted.term);
      if (!known.has(number)) known.set(number, index);
    }
  });
  const indexOf = (number: number): number => {
    let index = known.get(number);
    if (index === undefined) {
      if (others.length === 0) return -1;
      const term = vocabulary.termOf(number);
      index = others.find((other) => found[other]!.isTerm(term)) ?? -1;
      known.set(number, index);
    }
    return index;
  };
  return (text) => {
    const matches: TermMatch[] = [];
    const folded = fold(text);
    const starts = startsOf(words, folded.units);
    scan(folded.units, (kind, position, from, to, ownText) => {
      const number =
        ownText === undefined ? vocabulary.numberAt(folded.units, from, to, kind) : vocabulary.numberOf(ownText, kind);
      const start = kind === "pair" ? starts?.get(from) : undefined;
      const index = start?.index ?? indexOf(number);
      if (index === -1) return;
      const end = start ? from + start.word.length : to;
      const token = tokenAt(folded, start?.word ?? vocabulary.termOf(number), kind, position, from, end);
      matches.push({ found: found[index]!, index, token });
    });
    return matches;
  };
}

/** By the start of each occurrence. */
function startsOf<Word extends { readonly word: string }>(
  words: readonly Word[],
  units: Uint16Array,
): ReadonlyMap<number, Word> | undefined {
  if (words.length === 0) return undefined;
  const folded = foldedText(units);
  const starts = new Map<number, Word>();
  for (const one of words) for (const at of occurrencesOf(one.word, folded)) if (!starts.has(at)) starts.set(at, one);
  return starts;
}

/** Returns whether the text contains the word, in either kana. */
export function hasWord(text: string, { phrase, otherKana, run }: ContentWord): boolean {
  if (run !== undefined && text.includes(run)) return true;
  return hasPhrase(text, phrase) || (otherKana !== undefined && occurrencesOf(otherKana, foldText(text)).length > 0);
}

/** Returns whether the terms of the phrase follow one another anywhere in the text. */
export function hasPhrase(text: string, phrase: Phrase): boolean {
  const first = phrase[0]!.position;
  const tokens = tokenize(text);
  let starts: Set<number> | undefined;
  for (const { term, beginning, position } of phrase) {
    const here = new Set<number>();
    for (const token of tokens)
      if (token.term === term || (beginning !== undefined && token.term.startsWith(beginning)))
        here.add(token.position - (position - first));
    const before: Set<number> | undefined = starts;
    starts = before ? new Set([...before].filter((start) => here.has(start))) : here;
    if (starts.size === 0) return false;
  }
  return true;
}
