/** The terms of a query as groups of elements: where each of them is found, and how often. */
import type { ContentWord } from "../content-words.ts";
import { worth } from "../find-passages.ts";
import { inverseFrequency } from "../bm25.ts";
import { openLookup, type SearchedTerms } from "../lookup.ts";
import type { ParsedQuery } from "../query.ts";
import { termKey, type QueryTerm } from "../query-terms.ts";
import type { DictionaryTerm, TermDictionary } from "./dictionary.ts";
import { hasField, levelOf, topLevel } from "./elements.ts";
import type { ElementCount } from "./visible-mounts.ts";

/** A term of the query, in the mounts that are searched. */
export interface TermGroup {
  readonly terms: readonly DictionaryTerm[];
  readonly weight: number;
  /** Number of passages with an element of at least this level and one of these fields. */
  count(level?: number, fields?: number): number;
  elements(level?: number, fields?: number): readonly number[];
}

/** A word that a match contains: in one of these ways, each of which needs all its groups. */
export type WordGroups = readonly (readonly TermGroup[])[];

export interface QueryGroups {
  /** Each once. */
  readonly all: readonly TermGroup[];
  /** Undefined if there are too many words, or if one of them occurs nowhere. */
  readonly words: readonly WordGroups[] | undefined;
  /** Elements of words that exclude a document. */
  readonly excluded: readonly number[];
}

/** Unknown words that are corrected, at most. */
const maxCorrections = 4;
const anyField = 0xff;

/** Reads what the lookup of the query needs to know. */
export async function readTerms(dictionary: TermDictionary, query: ParsedQuery): Promise<void> {
  const phrases = [...query.phrases, ...query.nots, ...(query.content ?? []).map(({ phrase }) => phrase)].flat();
  const wanted = [...query.wanted, ...phrases];
  const kana = query.otherKana.flatMap(({ terms, typedTerms }) => [...terms, ...typedTerms]);
  // The stem that an unfinished word may lead to.
  const shorter = query.wanted.flatMap(({ beginning = "" }) => [1, 2, 3, 4].map((less) => beginning.slice(0, -less)));
  const beginnings = new Set(wanted.flatMap((one) => one.beginning ?? []));
  await Promise.all([
    dictionary.find([...wanted.map(({ term }) => term), ...kana, ...shorter.filter((term) => term.length >= 3)]),
    ...[...beginnings].map(dictionary.findBeginning),
  ]);
  const unknown = query.wanted.filter(({ kind, term, beginning }) => {
    if (kind === "pair" || kind === "single" || dictionary.known.has(term)) return false;
    return beginning === undefined || ![...dictionary.known.keys()].some((known) => known.startsWith(beginning));
  });
  const misspelt = [...new Set(unknown.map(({ term }) => term))].filter(
    (term) => term.length >= 4 && term.length <= 24 && /^\p{L}+$/u.test(term),
  );
  for (const term of misspelt.slice(0, maxCorrections)) await dictionary.findNear(term);
}

/** `mounts` are those that are searched; `none` is a view of the index without passages. */
export function groupQuery(
  query: ParsedQuery,
  known: ReadonlyMap<string, DictionaryTerm>,
  none: SearchedTerms,
  mounts: ReadonlySet<number>,
): QueryGroups {
  const lookup = openLookup(none);
  const groups = new Map<string, TermGroup | undefined>();
  const groupOf = (one: QueryTerm, mayCorrect: boolean): TermGroup | undefined => {
    const key = termKey(one);
    if (!groups.has(key)) groups.set(key, toGroup(one, mayCorrect));
    return groups.get(key);
  };
  function toGroup(one: QueryTerm, mayCorrect: boolean): TermGroup | undefined {
    const { term, beginning } = one;
    const begun =
      beginning === undefined ? [] : [...known.values()].filter((other) => other.term.startsWith(beginning));
    const exact = known.get(term);
    const terms = new Set([...begun, ...(exact ? [exact] : [])]);
    let isGuess = false;
    if (terms.size === 0 && mayCorrect) {
      const found = lookup.find(one);
      isGuess = found?.isGuess ?? false;
      for (const other of known.values()) if (found?.isTerm(other.term)) terms.add(other);
    }
    return terms.size === 0 ? undefined : group([...terms], one, isGuess);
  }
  function group(terms: readonly DictionaryTerm[], wanted: QueryTerm, isGuess: boolean): TermGroup {
    const most = Math.min(none.passages, sum(terms.map(({ byField }) => Math.max(...byField))));
    const idf = inverseFrequency(none.passages, most);
    const weight = worth({ wanted, isGuess, idf, lists: [], isTerm: () => false });
    const counts = terms.flatMap((term) => term.counts.filter(({ mount }) => mounts.has(mount)));
    const chosen = (level: number, fields: number): readonly ElementCount[] =>
      counts.filter(({ element }) => levelOf(element) >= level && hasField(element, fields));
    const totals = new Map<number, number>();
    return {
      terms,
      weight,
      count(level = 0, fields = anyField) {
        const key = fields * (topLevel + 1) + level;
        let total = totals.get(key);
        if (total === undefined) totals.set(key, (total = sum(chosen(level, fields).map(({ passages }) => passages))));
        return total;
      },
      elements: (level = 0, fields = anyField) => [...new Set(chosen(level, fields).map(({ element }) => element))],
    };
  }

  const wanted = query.wanted.map((one) => groupOf(one, true));
  const kana = new Map(
    query.otherKana.map(({ word, terms, position }) => [
      word,
      terms.flatMap((term) => groupOf({ term, kind: "pair", position, surface: term }, false) ?? []),
    ]),
  );
  const kanaWays = query.otherKana.flatMap(({ word, terms }) => {
    const own = kana.get(word)!;
    return own.length === terms.length ? own : [];
  });
  const waysOf = ({ phrase, otherKana }: ContentWord): WordGroups => {
    const typed = phrase.map((one) => groupOf(one, false));
    const other = query.otherKana.find(({ word }) => word === otherKana);
    const inOther = other && kana.get(other.word)!;
    return [
      ...(typed.every((one) => one !== undefined) ? [[...new Set(typed)]] : []),
      ...(inOther && inOther.length === other.terms.length ? [inOther] : []),
    ];
  };
  const words = query.content?.map(waysOf);
  const isPossible = words !== undefined && words.length > 0 && words.every((ways) => ways.length > 0);
  const occurs = (one: TermGroup | undefined): one is TermGroup => one !== undefined && one.count() > 0;
  return {
    all: [...new Set([...wanted, ...kanaWays, ...(isPossible ? words.flat(2) : [])])].filter(occurs),
    words: isPossible ? words : undefined,
    excluded: query.nots.flatMap((phrase) =>
      phrase.length === 1 ? (groupOf(phrase[0]!, false)?.elements() ?? []) : [],
    ),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
