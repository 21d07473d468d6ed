/** Decides which documents match a query, and which the query names. */
import { createBits, hasBit, noBits, setBit } from "./bits.ts";
import type { ContentWord } from "./content-words.ts";
import { definedNames } from "./defined-names.ts";
import { textFormatOf } from "./format.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import { hasWord } from "./matches.ts";
import { isNamed, matching, named, similar, type Tier } from "./query-match.ts";
import { nameKey, type ParsedQuery } from "./query.ts";
import { termKey, type QueryTerm } from "./query-terms.ts";
import { placesIn, type PassageOrdinal, type Places } from "./passage-filter.ts";
import type { Segment } from "./segments.ts";
import type { PassageReader } from "./texts.ts";

/** A document with more words than these precedes similar ones only if they stand in one passage: a long document contains many words. */
const maxScattered = 2;
/** Number of terms of a long phrase to look up. */
const maxTerms = 32;
/** Maximum number of passages to read for one query to check for words. */
const maxReadings = 4096;
/** Maximum number of passages to read for one query to look for a definition, and of one document: a long one must not use up all. */
const maxDefinitionReadings = 256;
const maxReadingsOfOne = 8;

export interface Judged {
  /** For the order. */
  readonly tier: Tier;
  readonly isMatch: boolean;
  /** Ordinal. */
  readonly passage?: number;
}

export type DocumentMatcher = ReturnType<typeof createDocumentMatcher>;

/** Where the words may be in one segment. */
interface Marked {
  /** Documents with all words, and those with all words in headings, as bits. */
  readonly hasAllWords: Uint8Array;
  readonly hasAllInHeadings: Uint8Array;
  /** By word: as typed, and in the other kana. */
  readonly places: readonly (readonly Places[])[];
}

/** `find` returns a term that occurs; `others` are the words that were found in the other kana. */
export function createDocumentMatcher(
  { segments }: Lookup,
  texts: PassageReader,
  { content, whole }: Pick<ParsedQuery, "content" | "whole">,
  find: (term: QueryTerm) => FoundTerm | undefined,
  others: readonly FoundTerm[],
) {
  const required = content?.map((word) => ({ word, ways: waysOf(word, find, others) })) ?? [];
  // The rarest first: it rules out most documents.
  required.sort((left, right) => rarity(right.ways) - rarity(left.ways));
  const isPossible = content !== undefined && required.every(({ ways }) => ways.length > 0);
  const marked = segments.map((segment, at) => (isPossible ? mark(segment, at) : undefined));
  const hasAny = marked.some((here) => here !== undefined);
  const hasName = whole !== undefined && required.length > 0;
  const judged = new Map<number, Judged>();
  let readings = 0;
  let definitionReadings = 0;

  /** Undefined if no document of the segment has all words. */
  function mark(segment: Segment, at: number): Marked | undefined {
    const count = segment.documents.length;
    /** Number of words in each document, counted as long as none is missing; then the same for words in headings. */
    if (wordCounts.length < 2 * count) wordCounts = new Uint8Array(2 * count);
    else wordCounts.fill(0, 0, 2 * count);
    const words = wordCounts.subarray(0, count);
    const headingWords = wordCounts.subarray(count, 2 * count);
    const places: (readonly Places[])[] = [];
    for (const [step, { ways }] of required.entries()) {
      let reached = 0;
      const take = (document: number, isOfHeading: boolean): void => {
        if (isOfHeading && headingWords[document] === step) headingWords[document] = step + 1;
        if (words[document] !== step) return;
        words[document] = step + 1;
        reached += 1;
      };
      places.push(ways.map((way) => placesIn(segment, at, way, take)));
      if (reached === 0) return undefined;
    }
    return {
      hasAllWords: bitsWhere(words, required.length),
      hasAllInHeadings: bitsWhere(headingWords, required.length),
      places,
    };
  }

  /** Whether a document has all words, by the index alone. `at` is the position of its segment in the lookup. */
  function mayHaveAll(at: number, document: number): boolean {
    return hasBit(marked[at]?.hasAllWords ?? noBits, document);
  }

  /** The tier of a document by the index alone, without names. */
  function mayMatch(at: number, document: number): Tier {
    const here = marked[at];
    if (!here || !mayHaveAll(at, document)) return similar;
    if (required.length <= maxScattered) return matching;
    const { starts } = segments[at]!;
    for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1)
      if (areAllIn(here.places, passage, document)) return matching;
    return similar;
  }

  /** Whether all words are in the title and the path. */
  function mayHaveName(at: number, document: number): boolean {
    return hasName && mayHaveAll(at, document) && areAllInName(marked[at]!.places, document);
  }

  /** Whether all words are in the title and the path, or in one heading. */
  function mayBeNamed(at: number, document: number): boolean {
    if (!hasName || !mayHaveAll(at, document)) return false;
    if (mayHaveName(at, document)) return true;
    if (!hasBit(marked[at]!.hasAllInHeadings, document)) return false;
    const { starts } = segments[at]!;
    for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1)
      if (marked[at]!.places.every((ways) => isInHeading(ways, passage))) return true;
    return false;
  }

  /** The passage of a document that defines the whole query. */
  function definingPassage(
    { segment, document, passage: best }: PassageOrdinal,
    { places }: Marked,
  ): number | undefined {
    const id = segment.documents[document]!;
    const { path, mimeType } = texts.entry(id);
    const format = textFormatOf(path, mimeType);
    if (format === "plain") return undefined;
    const start = segment.starts[document]!;
    const order = [best];
    for (let passage = start; passage < segment.starts[document + 1]!; passage += 1)
      if (passage !== best) order.push(passage);
    // Headings name what a passage defines, except long headings and those of data.
    const candidates = [isInHeading, isInPassage].flatMap((isIn) =>
      order.filter((passage) => places.every((ways) => isIn(ways, passage))),
    );
    return [...new Set(candidates)].slice(0, maxReadingsOfOne).find((passage) => {
      if (definitionReadings++ >= maxDefinitionReadings) return false;
      const { text } = texts.passage(id + passage - start)!;
      return definedNames(text, format).some((name) => nameKey(name) === whole);
    });
  }

  /** Reads what the index cannot know: whether the terms of a word follow one another. */
  function has(word: ContentWord, ways: readonly Places[], place: PassageOrdinal): boolean {
    const { segment, document } = place;
    const id = segment.documents[document]!;
    const start = segment.starts[document]!;
    const isIn = (text: string): boolean => readings++ < maxReadings && hasWord(text, word);
    const inOne = (passage: number): boolean => {
      if (!isInPassage(ways, passage)) return false;
      const { text, heading } = texts.passage(id + passage - start)!;
      return isIn(text) || (isInHeading(ways, passage) && isIn(heading));
    };
    if (inOne(place.passage)) return true;
    const { title = "", name = "", path, query = {}, description = "" } = texts.entry(id);
    if ([title, name, path, ...Object.values(query)].some(isIn)) return true;
    if (isInHeading(ways, start) && isIn(description)) return true;
    for (let passage = start; passage < segment.starts[document + 1]!; passage += 1)
      if (passage !== place.passage && inOne(passage)) return true;
    return false;
  }

  function decide(place: PassageOrdinal, id: number): Judged {
    const at = segments.indexOf(place.segment);
    const here = marked[at];
    const isMatch =
      here !== undefined &&
      hasBit(here.hasAllWords, place.document) &&
      // The index knows where a single term is.
      required.every(({ word }, index) => isSingle(word) || has(word, here.places[index]!, place));
    if (!isMatch) return { tier: similar, isMatch };
    const tier = mayMatch(at, place.document);
    if (!hasName) return { tier, isMatch };
    const passage = definingPassage(place, here);
    if (passage !== undefined) return { tier: named, isMatch, passage };
    return { tier: isNamed(whole, texts.entry(id)) ? named : tier, isMatch };
  }

  return {
    /** False if no document has all words. */
    hasAny,
    /** False if the query cannot name a document. */
    canName: hasAny && hasName,
    mayHaveAll,
    mayMatch,
    mayHaveName,
    mayBeNamed,
    /** Decides by the text, once for each document. Includes the passage with the definition if it defines the name that the query is. */
    judge(place: PassageOrdinal): Judged {
      const id = place.segment.documents[place.document]!;
      let known = judged.get(id);
      if (!known) judged.set(id, (known = decide(place, id)));
      return known;
    },
  };
}

/** Used again for each segment of each query. */
let wordCounts = new Uint8Array(0);

/** The ordinals with this count. */
function bitsWhere(counts: Uint8Array, wanted: number): Uint8Array {
  const bits = createBits(counts.length);
  for (let at = 0; at < counts.length; at += 1) if (counts[at] === wanted) setBit(bits, at);
  return bits;
}

/** The terms that stand for a word: as typed, and in the other kana. */
function waysOf(
  { phrase, otherKana }: ContentWord,
  find: (term: QueryTerm) => FoundTerm | undefined,
  others: readonly FoundTerm[],
): readonly (readonly FoundTerm[])[] {
  // The first terms reduce the candidates enough; the text decides.
  const terms = [...new Map(phrase.map((term) => [termKey(term), term])).values()].slice(0, maxTerms).map(find);
  const isFound = terms.every((one) => one !== undefined && !one.isGuess);
  const other = otherKana === undefined ? undefined : others.find(({ word }) => word === otherKana);
  return [...(isFound ? [terms as FoundTerm[]] : []), ...(other ? [[other]] : [])];
}

function isSingle({ phrase, otherKana }: ContentWord): boolean {
  return phrase.length === 1 && otherKana === undefined;
}

// Loops, because they run for every candidate: a function for each would be garbage, gigabytes in a hundred queries of a million documents.
function areAllIn(places: Marked["places"], passage: number, document: number): boolean {
  for (const ways of places) if (!isInPassage(ways, passage) && !isInName(ways, document)) return false;
  return true;
}

function areAllInName(places: Marked["places"], document: number): boolean {
  for (const ways of places) if (!isInName(ways, document)) return false;
  return true;
}

function isInPassage(ways: readonly Places[], passage: number): boolean {
  for (const { inPassages } of ways) if (hasBit(inPassages, passage)) return true;
  return isInHeading(ways, passage);
}

function isInHeading(ways: readonly Places[], passage: number): boolean {
  for (const { inHeadings } of ways) if (hasBit(inHeadings, passage)) return true;
  return false;
}

/** In the title or the path. */
function isInName(ways: readonly Places[], document: number): boolean {
  for (const { inDocuments } of ways) if (hasBit(inDocuments, document)) return true;
  return false;
}

function rarity(ways: readonly (readonly FoundTerm[])[]): number {
  return Math.max(0, ...ways.flat().map(({ idf }) => idf));
}
