/** Decides which documents match a query, and which the query names. */
import type { ContentWord } from "./content-words.ts";
import { definedNames } from "./defined-names.ts";
import { textFormatOf } from "./format.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import { hasWord } from "./matches.ts";
import { isNamed, matching, named, similar, type Tier } from "./query-match.ts";
import { nameKey, type ParsedQuery } from "./query.ts";
import type { QueryTerm } from "./query-terms.ts";
import { placesOfAll, type PassageOrdinal, type Places } from "./passage-filter.ts";
import type { PassageTexts } from "./texts.ts";

/** A document with more words than these precedes similar ones only if they stand in one passage: a long document contains many words. */
const maxScattered = 2;
/** Maximum number of passages to read for one query to check for words. */
const maxReadings = 4096;
/** Maximum number of passages to read for one query to look for a definition. */
const maxDefinitionReadings = 128;

interface Judged {
  /** For the order. */
  readonly tier: Tier;
  readonly isMatch: boolean;
  /** Ordinal. */
  readonly passage?: number;
}

export type DocumentMatcher = ReturnType<typeof createDocumentMatcher>;

/** `find` returns a term that occurs; `others` are the words that were found in the other kana. */
export function createDocumentMatcher(
  lookup: Lookup,
  texts: PassageTexts,
  { content, whole }: Pick<ParsedQuery, "content" | "whole">,
  find: (term: QueryTerm) => FoundTerm | undefined,
  others: readonly FoundTerm[],
) {
  const words = content?.map((word) => ({ word, ways: waysOf(word, find, others) })) ?? [];
  // The rarest first: it rules out most documents.
  words.sort((left, right) => rarity(right.ways) - rarity(left.ways));
  const isPossible = content !== undefined && words.every(({ ways }) => ways.length > 0);
  const required = isPossible
    ? words.map(({ word, ways }) => ({ word, places: anyOf(ways.map((way) => placesOfAll(lookup, way))) }))
    : [];
  const judged = new Map<number, Judged>();
  let readings = 0;
  let definitionReadings = 0;

  const isSomePassage = (at: number, document: number, isIt: (passage: number) => boolean): boolean => {
    const { starts } = lookup.segments[at]!;
    for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1) if (isIt(passage)) return true;
    return false;
  };

  /** Whether the index has each word somewhere in the document. */
  const mayMatch = (at: number, document: number): boolean =>
    isPossible &&
    required.every(({ places: { [at]: here } }) => {
      return here!.inDocuments[document] === 1 || isSomePassage(at, document, (passage) => isPlace(here!, passage));
    });

  /** Whether all words are in one passage with its headings, the title and the path. */
  const areTogether = (at: number, document: number): boolean =>
    isSomePassage(at, document, (passage) =>
      required.every(({ places: { [at]: here } }) => here!.inDocuments[document] === 1 || isPlace(here!, passage)),
    );

  /** Whether all words are in one heading, or in the title and the path. */
  const mayBeNamed = (at: number, document: number): boolean =>
    required.every(({ places }) => places[at]!.inDocuments[document] === 1) ||
    isSomePassage(at, document, (passage) => required.every(({ places }) => places[at]!.inHeadings[passage] === 1));

  /** The passage of a document that defines the whole query. */
  function definingPassage({ segment, document, passage: best }: PassageOrdinal, at: number): number | undefined {
    const id = segment.documents[document]!;
    const { path, mimeType } = texts.entry(id);
    const format = textFormatOf(path, mimeType);
    const start = segment.starts[document]!;
    const defines = (passage: number): boolean => {
      if (
        !required.every(({ places }) => isPlace(places[at]!, passage)) ||
        definitionReadings++ >= maxDefinitionReadings
      )
        return false;
      const { text } = texts.passage(id + passage - start)!;
      return definedNames(text, format).some((name) => nameKey(name) === whole);
    };
    if (defines(best)) return best;
    for (let passage = start; passage < segment.starts[document + 1]!; passage += 1)
      if (passage !== best && defines(passage)) return passage;
    return undefined;
  }

  /** Reads what the index cannot know: whether the terms of a word follow one another. */
  function has(word: ContentWord, { inPassages, inHeadings, inDocuments }: Places, place: PassageOrdinal): boolean {
    const { segment, document } = place;
    const id = segment.documents[document]!;
    const start = segment.starts[document]!;
    const isIn = (text: string): boolean => readings++ < maxReadings && hasWord(text, word);
    const { title = "", name = "", path, query = {}, description = "" } = texts.entry(id);
    if (inDocuments[document] === 1 && [title, name, path, ...Object.values(query)].some(isIn)) return true;
    if (inHeadings[start] === 1 && isIn(description)) return true;
    const inOne = (passage: number): boolean => {
      if (inPassages[passage] !== 1 && inHeadings[passage] !== 1) return false;
      const { text, heading } = texts.passage(id + passage - start)!;
      return (inPassages[passage] === 1 && isIn(text)) || (inHeadings[passage] === 1 && isIn(heading));
    };
    if (inOne(place.passage)) return true;
    for (let passage = start; passage < segment.starts[document + 1]!; passage += 1)
      if (passage !== place.passage && inOne(passage)) return true;
    return false;
  }

  /** The highest tier that a document can have, by the index alone. `at` is the position of its segment in the lookup. */
  const mayBe = (at: number, document: number): Tier => {
    if (!mayMatch(at, document)) return similar;
    if (whole !== undefined && required.length > 0 && mayBeNamed(at, document)) return named;
    return required.length <= maxScattered || areTogether(at, document) ? matching : similar;
  };

  function decide(place: PassageOrdinal, id: number): Judged {
    const at = lookup.segments.indexOf(place.segment);
    const isMatch =
      mayMatch(at, place.document) &&
      // The index knows where a single term is.
      required.every(
        ({ word, places }) =>
          (word.phrase.length === 1 && word.otherKana === undefined) || has(word, places[at]!, place),
      );
    if (!isMatch) return { tier: similar, isMatch };
    const tier = Math.min(mayBe(at, place.document), matching) as Tier;
    if (whole === undefined || required.length === 0) return { tier, isMatch };
    const passage = definingPassage(place, at);
    if (passage !== undefined) return { tier: named, isMatch, passage };
    return { tier: isNamed(whole, texts.entry(id)) ? named : tier, isMatch };
  }

  return {
    mayBe,
    /** Decides by the text, once for each document. Includes the passage with the definition if it defines the name that the query is. */
    judge(place: PassageOrdinal): Judged {
      const id = place.segment.documents[place.document]!;
      let known = judged.get(id);
      if (!known) judged.set(id, (known = decide(place, id)));
      return known;
    },
  };
}

/** The terms that stand for a word: as typed, and in the other kana. */
function waysOf(
  { phrase, otherKana }: ContentWord,
  find: (term: QueryTerm) => FoundTerm | undefined,
  others: readonly FoundTerm[],
): readonly (readonly FoundTerm[])[] {
  const terms = phrase.map(find);
  const isFound = terms.every((one) => one !== undefined && !one.isGuess);
  const other = otherKana === undefined ? undefined : others.find(({ word }) => word === otherKana);
  return [...(isFound ? [terms as FoundTerm[]] : []), ...(other ? [[other]] : [])];
}

/** Whether the passage or its heading has the word. */
function isPlace({ inPassages, inHeadings }: Places, passage: number): boolean {
  return inPassages[passage] === 1 || inHeadings[passage] === 1;
}

function rarity(ways: readonly (readonly FoundTerm[])[]): number {
  return Math.max(0, ...ways.flat().map(({ idf }) => idf));
}

function anyOf(ways: readonly (readonly Places[])[]): readonly Places[] {
  const [first = [], ...rest] = ways;
  for (const way of rest)
    way.forEach(({ inPassages, inHeadings, inDocuments }, at) => {
      inPassages.forEach((here, ordinal) => (first[at]!.inPassages[ordinal]! |= here));
      inHeadings.forEach((here, ordinal) => (first[at]!.inHeadings[ordinal]! |= here));
      inDocuments.forEach((here, ordinal) => (first[at]!.inDocuments[ordinal]! |= here));
    });
  return first;
}
