/** Runs a query: looks up terms, scores, reranks, and cuts the snippets. */
import type { Admission, Admitted } from "./admission.ts";
import { isFunctionWord } from "./function-words.ts";
import { createPassageFilter, type PassageFilter, type PassageOrdinal } from "./passage-filter.ts";
import { openLookup, type FoundTerm, type Lookup, type SearchedTerms } from "./lookup.ts";
import { createDocumentMatcher, type DocumentMatcher, type Judged } from "./match-documents.ts";
import { createTermMatcher, type TermMatch } from "./matches.ts";
import { findOtherKana, pairWeight } from "./other-kana.ts";
import { firstWithMatch, isNamed, named, type Tier } from "./query-match.ts";
import type { ParsedQuery } from "./query.ts";
import { termKey, type QueryTerm } from "./query-terms.ts";
import { createReranker } from "./rerank.ts";
import { score } from "./score.ts";
import type { Segment } from "./segments.ts";
import { snippetOf } from "./snippet.ts";
import type { StoreQuery, StoreHit } from "./store.ts";
import type { KeptPassage, PassageReader } from "./texts.ts";
import { createVocabulary } from "./vocabulary.ts";
import { searchWeights } from "./weights.ts";

/** A document that may be shown, and the id of the passage to show. */
interface Candidate {
  readonly document: Admitted;
  readonly passage: number;
  readonly tier: Tier;
  readonly isMatch: boolean;
  readonly score: number;
}

interface Looked extends Candidate {
  readonly stored: KeptPassage;
  readonly matches: readonly TermMatch[];
}

/** Number of candidates to rerank, and to take from each ranking that is fused. */
const secondLooks = 24;
/** Maximum number of documents with the words of the query in their names or headings to compare with it. */
const maxNames = 4096;
/** Of a long query, the rarest terms are enough. */
const maxTerms = 64;
/** Maximum number of remembered terms of texts. */
const maxRemembered = 100_000;
/** The usual constant of reciprocal rank fusion: reduces the weight of the first ranks. */
const fusionOffset = 60;

/** What a query is run on: an index, or the part of one that can contain its best hits. */
export interface SearchedIndex {
  readonly terms: SearchedTerms;
  readonly texts: PassageReader;
  readonly admission: Admission;
  /** Ids of the nearest passages, nearest first. Some may no longer exist. */
  nearest(vector: Float32Array, count: number): readonly number[];
}

/** `query` is the parsed text of the request. */
export function findPassages(
  index: SearchedIndex,
  query: ParsedQuery,
  request: StoreQuery,
  countRows?: (rows: number) => void,
): readonly StoreHit[] {
  const { admission } = index;
  const lookup = openLookup(index.terms);
  const others = query.otherKana.reduce((sum, { terms }) => sum + terms.length, 0);
  countRows?.(nextPowerOfTwo(lookup.passages) * (1 + query.wanted.length + others + (request.vector ? 1 : 0)));
  const { found, find } = lookUp(lookup, query, index.texts);
  const matcher = createDocumentMatcher(lookup, index.texts, query, find, found);
  const gate = createPassageFilter(index.texts, lookup, query, admission.ifFew(), request.visibility);
  const count = Math.max(secondLooks, request.limit);
  const placesOf = (ids: readonly number[]): Ranked[] => ids.map((id) => placeOf(lookup, id));
  const isVisible = (id: number): boolean => request.visibility?.has(id) ?? true;
  const choose = (rank: Rank, wanted: number, accepts?: (judged: Judged) => boolean): Candidate[] =>
    chooseBest(rank, admission, gate, matcher, wanted, isVisible, accepts);
  const rank = score(lookup, found, worth, gate.isOut);
  const first =
    query.wanted.length === 0
      ? choose((take) => placesOf(admission.latest(take)), request.limit)
      : choose((take) => rank(take, matcher.mayMatch), count);
  // Many documents may have the query in their paths: those that it names must not displace others.
  if (matcher.canName) {
    const chosen = new Set(first.map(({ document }) => document.id));
    const maybe = rank(maxNames, (at, document) => (matcher.mayBeNamed(at, document) ? 0 : -1));
    const withName = maybe.filter(({ segment, document }) =>
      matcher.mayHaveName(lookup.segments.indexOf(segment), document),
    );
    const exact = new Set(withExactPath(query, admission, withName));
    const exactFirst = [...exact, ...maybe.filter((place) => !exact.has(place))];
    const called = choose((take) => exactFirst.slice(0, take), secondLooks);
    first.push(...called.filter(({ tier, document }) => tier === named && !chosen.has(document.id)));
  }
  // Similar documents may have higher scores: one match must remain nevertheless.
  if (matcher.hasAny && !first.some(({ isMatch }) => isMatch))
    first.push(
      ...choose(
        (take) => rank(take, (at, document) => (matcher.mayHaveAll(at, document) ? 0 : -1)),
        1,
        ({ isMatch }) => isMatch,
      ),
    );
  const matchTerms = createTermMatcher(found, vocabularyOfTexts());
  const look = (candidate: Candidate): Looked => {
    const stored = index.texts.passage(candidate.passage)!;
    return { ...candidate, stored, matches: matchTerms(stored.text) };
  };
  const bonusOf = createReranker(query.wanted, found, worth);
  const bonusFor = ({ document, stored, matches }: Looked): number => {
    if (!bonusOf) return 0;
    const { title, name = "" } = index.texts.entry(document.id);
    return Math.max(...[matches, matchTerms(stored.heading), matchTerms(title ?? name)].map(bonusOf));
  };
  let looked = first.map(look).map((one) => ({ ...one, score: (one.score + bonusFor(one)) * one.document.boost }));
  if (query.wanted.length > 0) looked.sort(byTierAndScore);
  if (request.vector && query.wanted.length > 0) {
    const { vector } = request;
    const near = choose((take) => placesOf(index.nearest(vector, take)), count);
    looked = fuse(looked, near).map((one) => ("stored" in one ? one : look(one)));
  }
  return firstWithMatch(looked, request.limit).map(({ document, tier, isMatch, score: total, stored, matches }) => {
    const { from, to, marks } = snippetOf(stored.text, matches);
    return {
      mount: document.mount,
      entry: index.texts.entry(document.id),
      score: total,
      snippet: stored.text.slice(from, to),
      offset: stored.from + from,
      marks,
      lines: stored.lines,
      tier,
      isMatch,
    };
  });
}

function byTierAndScore(left: Candidate, right: Candidate): number {
  return right.tier - left.tier || right.score - left.score;
}

function nextPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count)));
}

/** Reused between queries: texts share most of their terms. */
let vocabulary = createVocabulary();

function vocabularyOfTexts(): typeof vocabulary {
  if (vocabulary.size > maxRemembered) vocabulary = createVocabulary();
  return vocabulary;
}

/** Each term once, the rarest if there are many, in the order of the query; then words in the other kana. */
export function lookUp(
  lookup: Lookup,
  query: ParsedQuery,
  texts: PassageReader,
): { readonly found: readonly FoundTerm[]; find(term: QueryTerm): FoundTerm | undefined } {
  const known = new Map<string, FoundTerm | undefined>();
  for (const one of query.wanted) {
    const key = termKey(one);
    if (!known.has(key)) known.set(key, lookup.find(one));
  }
  const found = [...known.values()].filter((one) => one !== undefined);
  const others = findOtherKana(lookup, query, texts, (term) => {
    const typed = known.get(`\0${term}`);
    return typed && worth(typed);
  });
  const find = (one: QueryTerm): FoundTerm | undefined =>
    known.has(termKey(one)) ? known.get(termKey(one)) : lookup.findPlaces(one);
  if (found.length <= maxTerms) return { found: [...found, ...others], find };
  const least = found.map(({ idf }) => idf).sort((left, right) => right - left)[maxTerms - 1]!;
  return { found: [...found.filter(({ idf }) => idf >= least).slice(0, maxTerms), ...others], find };
}

/** Weight of a term that was found. */
export function worth({ wanted: { kind, surface }, isGuess, idf, weight: given }: FoundTerm): number {
  if (given !== undefined) return given;
  let weight = idf;
  if (isGuess) weight *= searchWeights.guess;
  if (kind === "part") weight *= searchWeights.part;
  if (kind === "pair") weight *= pairWeight(surface);
  else if (isFunctionWord(surface)) weight *= searchWeights.functionWord;
  return weight;
}

/** Selects the documents whose path equals the query. */
function withExactPath<Place extends PassageOrdinal>(
  { whole }: ParsedQuery,
  { pathsOf }: Admission,
  places: readonly Place[],
): readonly Place[] {
  if (whole === undefined || places.length === 0) return [];
  const idOf = ({ segment, document }: Place): number => segment.documents[document]!;
  const paths = pathsOf(places.map(idOf));
  return places.filter((place) => {
    const path = paths.get(idOf(place));
    return path !== undefined && isNamed(whole, { path });
  });
}

/** Returns up to `count` results, best first; fewer only if there are no more. Documents that do not exist any more have no rank. */
type Rank = (count: number) => readonly Ranked[];
type Ranked = (PassageOrdinal & { readonly score: number }) | undefined;

/** The best documents that may be shown and are accepted; checks as many as necessary. */
function chooseBest(
  rank: Rank,
  admission: Admission,
  gate: PassageFilter,
  matcher: DocumentMatcher,
  count: number,
  isVisible: (id: number) => boolean,
  accepts: (judged: Judged) => boolean = () => true,
): Candidate[] {
  for (let take = count * 2; ; take *= 8) {
    const ranked = rank(take);
    if (ranked.length === 0) return [];
    const chosen = new Map<number, Candidate>();
    const admitted = admission.admit(
      ranked.flatMap((place) => (place ? place.segment.documents[place.document]! : [])),
    );
    for (const place of ranked) {
      const document = place && admitted.get(place.segment.documents[place.document]!);
      if (!document || chosen.has(document.id) || !isVisible(document.id)) continue;
      const passage = gate.pass(place, document);
      if (passage === undefined) continue;
      const judged = matcher.judge({ ...place, passage });
      if (!accepts(judged)) continue;
      const { tier, isMatch, passage: defining = passage } = judged;
      const at = document.id + defining - place.segment.starts[place.document]!;
      chosen.set(document.id, { document, passage: at, tier, isMatch, score: place.score });
      if (chosen.size === count) break;
    }
    if (chosen.size === count || ranked.length < take) return [...chosen.values()];
  }
}

function placeOf({ segments }: Lookup, id: number): Ranked {
  const segment = segments.find(({ first, last }) => first <= id && id <= last);
  if (!segment) return undefined;
  const document = lastUpTo(segment.documents, id);
  const passage = segment.starts[document]! + id - segment.documents[document]!;
  return passage < segment.starts[document + 1]! ? { segment, document, passage, score: 0 } : undefined;
}

function lastUpTo(ids: Segment["documents"], id: number): number {
  let low = 0;
  let high = ids.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ids[middle]! <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Reciprocal rank fusion. */
function fuse(words: readonly Looked[], meanings: readonly Candidate[]): (Looked | Candidate)[] {
  const fused = new Map<number, Looked | Candidate>();
  for (const ranking of [words, meanings])
    ranking.forEach((one, rank) => {
      const known = fused.get(one.document.id);
      const share = one.document.boost / (fusionOffset + rank + 1);
      fused.set(one.document.id, { ...(known ?? one), score: (known?.score ?? 0) + share });
    });
  return [...fused.values()].sort(byTierAndScore);
}
