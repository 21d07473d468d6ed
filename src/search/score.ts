/** BM25 over fields: scores each document and finds its best passage. */
import { bm25, lengthNorm } from "./bm25.ts";
import { keepLargest } from "./keep-largest.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import { body, eachPosting, headingField, title, type List } from "./lists.ts";
import { createOrdinals, longLength, type Ordinals, type Segment } from "./segments.ts";
import { searchWeights } from "./weights.ts";

interface Scored {
  readonly segment: Segment;
  /** Ordinals in the segment. */
  readonly document: number;
  readonly passage: number;
  readonly score: number;
}

/** Far above any score. */
const tierScore = 1e6;

/** How repetition of a term saturates; `norms` by the short length of a passage. */
interface Saturation {
  readonly k1: number;
  readonly norms: Float32Array;
}

/**
 * Returns a function for the best documents, best first. `worth` returns the weight of a term; `isOut` excludes documents by their
 * ordinal in a segment. Documents of a higher tier come first, whatever their score; a negative tier excludes them.
 */
export function score(
  { segments, meanLength }: Lookup,
  found: readonly FoundTerm[],
  worth: (found: FoundTerm) => number,
  isOut: (segment: number, document: number) => boolean,
): (count: number, tierOf: (segment: number, document: number) => number) => readonly Scored[] {
  const saturationOf = (k1: number): Saturation => ({
    k1,
    norms: Float32Array.from({ length: 256 }, (_, short) =>
      lengthNorm({ k1, b: searchWeights.b }, longLength(short), meanLength),
    ),
  });
  const ofPairs = saturationOf(searchWeights.pairK1);
  const ofWords = saturationOf(searchWeights.k1);
  const parts = segments.map((segment, at) => {
    const ofPassage = zerosForPassages.take(segment.lengths.length);
    const { ofDocument, best } = takeScores(segment);
    for (const one of found) {
      const weight = worth(one);
      const saturation = one.wanted.kind === "pair" || one.wanted.kind === "single" ? ofPairs : ofWords;
      for (const list of one.lists[at]!) {
        if (list.field === body) addToPassages(list, weight, ofPassage, ofDocument, saturation, segment);
        else if (list.field === headingField) addFlat(list, weight * searchWeights.heading, ofPassage);
        else addFlat(list, weight * (list.field === title ? searchWeights.title : searchWeights.path), ofDocument);
      }
    }
    addBestPassages(segment, ofPassage, ofDocument, best, zerosForDocuments.take(segment.documents.length));
    return { segment, ofDocument, best };
  });
  return (count, tierOf) => {
    const heap: { part: number; document: number; score: number }[] = [];
    parts.forEach(({ ofDocument }, part) => {
      let least = heap.length === count ? heap[0]!.score : 0;
      for (let document = 0; document < ofDocument.length; document += 1) {
        const own = ofDocument[document]!;
        if (own === 0) continue;
        const total = own + tierOf(part, document) * tierScore;
        if (total <= least || isOut(part, document)) continue;
        keepLargest(heap, count, { part, document, score: total });
        if (heap.length === count) least = heap[0]!.score;
      }
    });
    return heap
      .sort((left, right) => right.score - left.score || left.part - right.part || left.document - right.document)
      .map(({ part, document, score: total }) => {
        const { segment, best } = parts[part]!;
        const passage = best[document]! > 0 ? best[document]! - 1 : segment.starts[document]!;
        return { segment, document, passage, score: total % tierScore };
      });
  };
}

/**
 * Adds the score of one term to each passage where it occurs, and its best passage score to each document. The hot loop of every
 * query: numbers are read in place.
 */
function addToPassages(
  { bytes, from, count }: List,
  weight: number,
  ofPassage: Float32Array,
  ofDocument: Float32Array,
  { k1, norms }: Saturation,
  { lengths, owners }: Segment,
): void {
  const { document: share } = searchWeights;
  let at = from;
  let ordinal = -1;
  let document = -1;
  let most = 0;
  for (let index = 0; index < count; index += 1) {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
    }
    ordinal += (value >>> 1) + 1;
    let times = 1;
    if ((value & 1) === 1) {
      byte = bytes[at++]!;
      times = byte & 0x7f;
      for (let shift = 7; byte > 0x7f; shift += 7) {
        byte = bytes[at++]!;
        times |= (byte & 0x7f) << shift;
      }
      times += 2;
    }
    const gain = bm25(weight, times, norms[lengths[ordinal]!]!, k1);
    ofPassage[ordinal]! += gain;
    const owner = owners[ordinal]!;
    if (owner !== document) {
      if (document >= 0) ofDocument[document]! += share * most;
      document = owner;
      most = gain;
    } else if (gain > most) most = gain;
  }
  if (document >= 0) ofDocument[document]! += share * most;
}

/** The same for fields where length does not matter. */
function addFlat(list: List, weight: number, into: Float32Array): void {
  const { k1 } = searchWeights;
  eachPosting(list, (ordinal, times) => {
    into[ordinal]! += bm25(weight, times, k1, k1);
  });
}

/** Adds the score of its best passage to each document, and sets that passage plus one. `ofBest` holds zeros. */
function addBestPassages(
  { owners }: Segment,
  ofPassage: Float32Array,
  ofDocument: Float32Array,
  best: Ordinals,
  ofBest: Float32Array,
): void {
  for (let passage = 0; passage < ofPassage.length; passage += 1) {
    const total = ofPassage[passage]!;
    if (total === 0) continue;
    const document = owners[passage]!;
    if (total > ofBest[document]!) {
      ofBest[document] = total;
      best[document] = passage + 1;
    }
  }
  for (let document = 0; document < ofBest.length; document += 1) ofDocument[document]! += ofBest[document]!;
}

interface Scores {
  readonly ofDocument: Float32Array;
  /** Ordinal of the best passage of each document plus one. */
  readonly best: Ordinals;
}

/** Kept with each segment: those of a million documents take 6 MB, which would wait for a garbage collection after each query. */
const knownScores = new WeakMap<Segment, Scores>();

/** Zeros, valid until the next query. */
function takeScores(segment: Segment): Scores {
  let scores = knownScores.get(segment);
  if (scores) {
    scores.ofDocument.fill(0);
    scores.best.fill(0);
    return scores;
  }
  const { documents, lengths } = segment;
  scores = {
    ofDocument: new Float32Array(documents.length),
    best: createOrdinals(documents.length, lengths.length),
  };
  knownScores.set(segment, scores);
  return scores;
}

/** Arrays of zeros, in memory that is used again for each segment. */
function createZeros() {
  let numbers = new Float32Array(0);
  return {
    /** Valid until the next call. */
    take(count: number): Float32Array {
      if (numbers.length < count) numbers = new Float32Array(count);
      return numbers.subarray(0, count).fill(0);
    },
  };
}
const zerosForPassages = createZeros();
const zerosForDocuments = createZeros();
