/** Looks up the terms of a query in the index. */
import { editDistance } from "../lib/nearest.ts";
import { inverseFrequency } from "./bm25.ts";
import { body, createListWriter, eachPosting, fields, headingField, listsOf, title, type List } from "./lists.ts";
import type { QueryTerm } from "./query-terms.ts";
import type { Segment, Segments } from "./segments.ts";
import { type Visibility, visibleLists, type VisiblePart, wholePart } from "./visibility.ts";

/** A term that occurs in the index. */
export interface FoundTerm {
  readonly wanted: QueryTerm;
  /** True for the terms that it matched: itself, those with this prefix, or the probable correction. */
  isTerm(term: string): boolean;
  readonly isGuess: boolean;
  /** A word in the other kana, to be found in the text as a whole. */
  readonly word?: string;
  /** Given for such a word. */
  readonly weight?: number;
  /** Inverse document frequency: the rarer, the higher. */
  readonly idf: number;
  /** By segment. */
  readonly lists: readonly (readonly List[])[];
}

/** Guessing scans the terms of the index: for a typing error, not for a page of unknown names. */
const maxGuesses = 2;

/** A short prefix matches too much; terms are taken until they have this many postings. */
const maxPrefixPlaces = 200_000;

/** Words in the other kana are looked up until this many postings of their terms have been read. */
const maxTogetherPlaces = 2_000_000;

export type Lookup = ReturnType<typeof openLookup>;

/** Terms with the postings that are searched, and how many there are in all that the caller may see. */
export interface SearchedTerms {
  readonly segments: readonly Segment[];
  /** Number of visible passages, and their tokens. */
  readonly passages: number;
  readonly tokens: number;
  /** What to leave out of a segment. */
  masksOf(segment: Segment): VisiblePart["masks"];
  /** `visible` of a list is the number of visible postings, also if the list has only some of them. */
  find(segment: Segment, term: string): readonly List[];
  /** Passes terms with this prefix, in order, until `take` returns false. */
  eachTerm(segment: Segment, beginning: string, take: (term: string, lists: () => readonly List[]) => boolean): void;
}

/** The terms of visible documents. Default: all documents are visible. */
export function openVisibleTerms(stored: Segments, visibility?: Visibility): SearchedTerms {
  const segments = stored.load();
  const parts = new Map<Segment, VisiblePart>(
    segments.map((segment) => [segment, visibility?.of(segment) ?? wholePart(segment)]),
  );
  const total = (key: "passages" | "tokens"): number => [...parts.values()].reduce((sum, part) => sum + part[key], 0);
  return {
    segments,
    passages: total("passages"),
    tokens: total("tokens"),
    masksOf: (segment) => parts.get(segment)!.masks,
    find: (segment, term) => visibleLists(parts.get(segment)!, term, stored.find(segment, term)),
    eachTerm: (segment, beginning, take) =>
      stored.eachTerm(segment, beginning, (term, lists) =>
        take(term, () => visibleLists(parts.get(segment)!, term, lists())),
      ),
  };
}

/** Weighs terms by visible documents, and finds only terms that these contain. */
export function openLookup(index: SearchedTerms) {
  const { segments, passages, tokens } = index;

  function judge(wanted: QueryTerm, lists: readonly (readonly List[])[], isTerm: FoundTerm["isTerm"], isGuess = false) {
    const counts = fields.map((_, field) =>
      lists.reduce((sum, ofSegment) => sum + countIn(ofSegment.find((list) => list.field === field)), 0),
    );
    const most = Math.max(...counts);
    if (most === 0) return undefined;
    return { wanted, isTerm, isGuess, lists, idf: inverseFrequency(passages, most) };
  }

  let guesses = 0;
  let placesLeft = maxTogetherPlaces;
  const known = new Map<string, (readonly List[])[]>();
  function exact(term: string): (readonly List[])[] {
    let lists = known.get(term);
    if (!lists) known.set(term, (lists = segments.map((segment) => index.find(segment, term))));
    return lists;
  }

  return {
    segments,
    /** Number of visible passages. */
    passages,
    /** Mean length of a passage, in tokens. */
    meanLength: Math.max(1, tokens / Math.max(1, passages)),
    /**
     * Where all these terms occur, as if they were one, except where `accepts` says no. Undefined if they do not, or if too many postings have
     * been read to know.
     */
    findTogether(wanted: QueryTerm, terms: readonly string[], accepts: Accepts): FoundTerm | undefined {
      const all = terms.map(exact);
      // Visible postings: the limit must not depend on hidden documents.
      const mayRead = (list: List): boolean => (placesLeft -= countIn(list)) >= 0;
      const lists = segments.map((segment, at) => {
        const ofTerms = all.map((ofTerm) => ofTerm[at]!);
        return together(ofTerms, segment, index.masksOf(segment), accepts, mayRead);
      });
      return placesLeft < 0 ? undefined : judge(wanted, lists, () => false);
    },
    /** Where the term itself occurs, or terms with its prefix: several lists of one field. No corrections, and no weight. */
    findPlaces(wanted: QueryTerm): FoundTerm | undefined {
      const { term, beginning, kind } = wanted;
      const lists = exact(term).map((ofSegment, at) => {
        if (beginning === undefined) return ofSegment;
        const all = [...ofSegment];
        let places = 0;
        index.eachTerm(segments[at]!, beginning, (_, begun) => {
          for (const list of begun()) {
            all.push(list);
            places += countIn(list);
          }
          return kind === "single" || places < maxPrefixPlaces;
        });
        return all;
      });
      return judge(wanted, lists, () => false);
    },
    /** Undefined if it does not occur. */
    find(wanted: QueryTerm): FoundTerm | undefined {
      const { term, beginning, kind } = wanted;
      if (beginning !== undefined) {
        // A single character takes all its postings, however many there are.
        const most = kind === "single" ? Infinity : maxPrefixPlaces;
        const lists = segments.map((segment) => beginningWith(index, segment, beginning, term, most));
        const begun = judge(wanted, lists, (other) => other.startsWith(beginning) || other === term);
        if (begun) return begun;
      }
      const found = judge(wanted, exact(term), (other) => other === term);
      if (found || kind === "pair" || kind === "single") return found;
      let corrected = beginning && shorterTerm(beginning, exact);
      if (corrected === undefined && guesses++ < maxGuesses) corrected = nearestTerm(index, segments, term);
      return corrected === undefined
        ? undefined
        : judge(wanted, exact(corrected), (other) => other === corrected, true);
    },
  };
}

function countIn(list: List | undefined): number {
  return list?.visible ?? list?.count ?? 0;
}

/** Used again for each segment: it holds 20 kB. A query that was stopped may have left postings in it, so each use first drops them with `take`. */
const writer = createListWriter();

/** Decides by field and ordinal. */
type Accepts = (segment: Segment, field: number, ordinal: number) => boolean;

/** Stops at a list that `mayRead` refuses. */
function together(
  all: readonly (readonly List[])[],
  segment: Segment,
  masks: VisiblePart["masks"],
  accepts: Accepts,
  mayRead: (list: List) => boolean,
): readonly List[] {
  writer.take();
  for (let field = 0; field < fields.length; field += 1) {
    const lists = all.map((ofTerm) => ofTerm.find((list) => list.field === field));
    if (!lists.every((list) => list !== undefined)) continue;
    const mask = field <= headingField ? masks?.passages : masks?.documents;
    const [rarest, ...rest] = lists.sort((left, right) => countIn(left) - countIn(right));
    if (!rarest) continue;
    if (!mayRead(rarest)) return [];
    const common = readPostings(rarest, mask);
    for (const list of rest) {
      if (common.count === 0) break;
      if (!mayRead(list)) return [];
      keepCommon(common, list);
    }
    for (let at = 0; at < common.count; at += 1) {
      const ordinal = common.ordinals[at]!;
      if (accepts(segment, field, ordinal)) writer.add(field, ordinal, common.times[at]!);
    }
  }
  const bytes = writer.take().slice();
  const found = bytes.length === 0 ? [] : listsOf(bytes, 0, bytes.length);
  return masks ? found : found.map((list) => scaled(list, all.flat()));
}

/** For a list that was made of lists with only some of their postings: its number of visible postings is estimated from theirs. */
function scaled(list: List, from: readonly List[]): List {
  let here = 0;
  let everywhere = 0;
  for (const { field, count, visible = count } of from) {
    if (field !== list.field) continue;
    here += count;
    everywhere += visible;
  }
  return here === everywhere ? list : { ...list, visible: Math.round((list.count * everywhere) / Math.max(1, here)) };
}

/** The first `count` of each array. Used again for each list: with arrays of their own, the segments of a query would leave megabytes of garbage. */
const postings = { ordinals: new Uint32Array(0), times: new Uint32Array(0), count: 0 };

/** Valid until the next call. */
function readPostings(list: List, mask: Uint8Array | undefined): typeof postings {
  if (postings.ordinals.length < list.count) {
    postings.ordinals = new Uint32Array(list.count);
    postings.times = new Uint32Array(list.count);
  }
  let count = 0;
  eachPosting(list, (ordinal, times) => {
    if (mask?.[ordinal] === 0) return;
    postings.ordinals[count] = ordinal;
    postings.times[count] = times;
    count += 1;
  });
  postings.count = count;
  return postings;
}

/** Removes ordinals that are not in the list. */
function keepCommon(common: typeof postings, list: List): void {
  const { ordinals, times, count } = common;
  let at = 0;
  let kept = 0;
  eachPosting(list, (ordinal, here) => {
    while (at < count && ordinals[at]! < ordinal) at += 1;
    if (at === count || ordinals[at] !== ordinal) return;
    ordinals[kept] = ordinal;
    times[kept] = Math.min(times[at]!, here);
    kept += 1;
    at += 1;
  });
  common.count = kept;
}

/** All terms with this prefix, and this term, as one: "happy" is a prefix of many words, and is "happi" itself. */
function beginningWith(
  index: SearchedTerms,
  segment: Segment,
  beginning: string,
  term: string,
  most: number,
): readonly List[] {
  const masks = index.masksOf(segment);
  const all: List[] = term.startsWith(beginning) ? [] : [...index.find(segment, term)];
  let places = 0;
  index.eachTerm(segment, beginning, (_, lists) => {
    for (const list of lists()) {
      all.push(list);
      places += countIn(list);
    }
    return places < most;
  });
  if (all.length === 0) return [];
  writer.take();
  for (let field = 0; field < fields.length; field += 1) {
    const mask = field <= headingField ? masks?.passages : masks?.documents;
    const times = new Uint16Array(field <= headingField ? segment.lengths.length : segment.documents.length);
    for (const list of all)
      if (list.field === field)
        eachPosting(list, (ordinal, more) => {
          if (mask?.[ordinal] === 0) return;
          times[ordinal] = Math.min(0xffff, times[ordinal]! + more);
        });
    times.forEach((count, ordinal) => {
      if (count > 0) writer.add(field, ordinal, count);
    });
  }
  const bytes = writer.take().slice();
  const begun = bytes.length === 0 ? [] : listsOf(bytes, 0, bytes.length);
  if (masks) return begun;
  // A field without postings here may have some elsewhere, which count for the weight of the term.
  const absent = fields.flatMap((_, field): List | [] => {
    if (begun.some((list) => list.field === field)) return [];
    const visible = Math.max(0, ...all.filter((list) => list.field === field).map(countIn));
    return visible === 0 ? [] : { field, count: 0, last: -1, bytes, from: 0, to: 0, visible };
  });
  return [...begun.map((list) => scaled(list, all)), ...absent];
}

/** The stem that an unfinished word may lead to: "configura" leads to "configur". */
function shorterTerm(beginning: string, exact: (term: string) => readonly (readonly List[])[]): string | undefined {
  for (let length = beginning.length - 1; length >= Math.max(3, beginning.length - 4); length -= 1)
    if (exact(beginning.slice(0, length)).some((lists) => lists.length > 0)) return beginning.slice(0, length);
  return undefined;
}

/** A term that differs by one typing error and has the same first letter; of several the most frequent. */
function nearestTerm(index: SearchedTerms, segments: readonly Segment[], term: string): string | undefined {
  if (term.length < 4 || term.length > 24 || !/^\p{L}+$/u.test(term)) return undefined;
  const most = term.length < 8 ? 1 : 2;
  let best: string | undefined;
  let least = most + 1;
  let bestCount = 0;
  for (const segment of segments)
    index.eachTerm(segment, term.slice(0, 1), (other, lists) => {
      if (Math.abs(other.length - term.length) > Math.min(most, least)) return true;
      const distance = editDistance(term, other);
      if (distance > least || distance > most) return true;
      const found = lists();
      if (found.length === 0) return true;
      const count = found.reduce(
        (sum, list) => sum + (list.field === body || list.field === title ? countIn(list) : 0),
        0,
      );
      if (distance < least || count > bestCount) {
        best = other;
        least = distance;
        bestCount = count;
      }
      return true;
    });
  return best;
}
