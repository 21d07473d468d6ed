/** Filters by required phrases, excluded words and audience. */
import type { Admitted } from "./admission.ts";
import { createBits, hasBit, noBits as none, setBit } from "./bits.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import { hasPhrase } from "./matches.ts";
import { body, eachPosting, headingField } from "./lists.ts";
import type { ParsedQuery } from "./query.ts";
import type { Phrase } from "./query-terms.ts";
import type { Segment } from "./segments.ts";
import type { PassageReader } from "./texts.ts";
import type { Visibility } from "./visibility.ts";

/** A document and one of its passages, by ordinal. */
export interface PassageOrdinal {
  readonly segment: Segment;
  readonly document: number;
  readonly passage: number;
}

/** Maximum number of passages to read for one query to check for a phrase. */
const maxReadings = 4096;

export type PassageFilter = ReturnType<typeof createPassageFilter>;

export function createPassageFilter(
  texts: PassageReader,
  lookup: Lookup,
  { phrases, nots, audience }: Pick<ParsedQuery, "phrases" | "nots" | "audience">,
  only: ReadonlySet<number> | undefined,
  visible: Pick<Visibility, "has"> | undefined,
) {
  const needed = phrases.map((phrase) => ({ phrase, places: placesOf(lookup, phrase) }));
  const barred = nots.map((phrase) => ({ phrase, places: placesOf(lookup, phrase) }));
  let readings = 0;

  const stands = (phrase: Phrase, text: string): boolean => {
    if (phrase.length === 1) return true;
    readings += 1;
    return readings <= maxReadings && hasPhrase(text, phrase);
  };

  /** The passage with the phrase, "apart" if the title or the path has it, undefined otherwise. */
  function find(
    { phrase, places }: (typeof needed)[number],
    at: number,
    place: PassageOrdinal,
  ): number | "apart" | undefined {
    const { segment, document } = place;
    const { inPassages, inDocuments } = places[at]!;
    const start = segment.starts[document]!;
    const end = segment.starts[document + 1]!;
    const id = segment.documents[document]!;
    const hasIt = (passage: number): boolean =>
      hasBit(inPassages, passage) && stands(phrase, texts.passage(id + passage - start)?.text ?? "");
    if (hasIt(place.passage)) return place.passage;
    for (let passage = start; passage < end; passage += 1)
      if (passage !== place.passage && hasIt(passage)) return passage;
    if (!hasBit(inDocuments, document)) return undefined;
    const { title = "", name = "", path } = texts.entry(id);
    return [title, name, path].some((text) => stands(phrase, text)) ? "apart" : undefined;
  }

  return {
    /** True if the index alone excludes a document. `segment` is the position in the lookup. */
    isOut(at: number, document: number): boolean {
      const segment = lookup.segments[at]!;
      const id = segment.documents[document]!;
      if ((visible && !visible.has(id)) || (only && !only.has(id))) return true;
      return (
        needed.some(({ places }) => !mayHave(places[at]!, segment, document)) ||
        // A single word needs no reading.
        barred.some(({ phrase, places }) => phrase.length === 1 && mayHave(places[at]!, segment, document))
      );
    },
    /** Returns the passage of the document to show, after reading its text; undefined if the document is excluded. */
    pass(place: PassageOrdinal, { id }: Admitted): number | undefined {
      if (audience.length > 0 && !isFor(audience, texts.entry(id).annotations?.audience)) return undefined;
      const at = lookup.segments.indexOf(place.segment);
      if (barred.some((one) => find(one, at, place) !== undefined)) return undefined;
      let shown: number | undefined;
      for (const one of needed) {
        const passage = find(one, at, place);
        if (passage === undefined) return undefined;
        if (passage !== "apart") shown ??= passage;
      }
      return shown ?? place.passage;
    },
  };
}

/** A document without an audience is for everybody. */
function isFor(wanted: ParsedQuery["audience"], audience: ParsedQuery["audience"] = []): boolean {
  return audience.length === 0 || wanted.some((one) => audience.includes(one));
}

/** Where all terms occur, as bits by ordinal. */
export interface Places {
  readonly inPassages: Uint8Array;
  /** By passage: in its heading, or in the description of the document. */
  readonly inHeadings: Uint8Array;
  /** By document: in its title or path. */
  readonly inDocuments: Uint8Array;
}

function mayHave({ inPassages, inDocuments }: Places, { starts }: Segment, document: number): boolean {
  if (hasBit(inDocuments, document)) return true;
  for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1)
    if (hasBit(inPassages, passage)) return true;
  return false;
}

function placesOf({ segments, find }: Lookup, phrase: Phrase): readonly Places[] {
  const terms = new Map(phrase.map((wanted) => [wanted.beginning ?? wanted.term, wanted]));
  // The first terms reduce the candidates enough; the text decides.
  const found = [...terms.values()].slice(0, 32).map((wanted) => find(wanted));
  return segments.map((segment, at) => placesIn(segment, at, found));
}

/** A term that is undefined occurs nowhere. `take` gets each document with all terms in one place, possibly several times. */
export function placesIn(
  { documents, lengths, owners }: Segment,
  at: number,
  found: readonly (FoundTerm | undefined)[],
  take?: (document: number, isOfHeading: boolean) => void,
): Places {
  const has = (isWanted: (field: number) => boolean): boolean =>
    found.every((one) => one?.lists[at]!.some(({ field }) => isWanted(field)));
  const counted = countTerms(lengths.length, documents.length);
  const inPassages = has((field) => field === body) ? createBits(lengths.length) : none;
  const inHeadings = has((field) => field === headingField) ? createBits(lengths.length) : none;
  const inDocuments = has((field) => field > headingField) ? createBits(documents.length) : none;
  if (found.length === 0) for (const bits of [inPassages, inHeadings, inDocuments]) bits.fill(0xff);
  found.forEach((one, step) => {
    if (!one || one.isGuess) return;
    const isLast = step === found.length - 1;
    // Each term counts only where all those before it occur.
    for (const list of one.lists[at]!) {
      const isOfPassage = list.field <= headingField;
      const isOfHeading = list.field === headingField;
      const bits = list.field === body ? inPassages : isOfPassage ? inHeadings : inDocuments;
      if (bits === none) continue;
      const into = list.field === body ? counted.passages : isOfPassage ? counted.headings : counted.documents;
      eachPosting(list, (ordinal) => {
        if (into[ordinal] !== step) return;
        into[ordinal] = step + 1;
        if (!isLast) return;
        setBit(bits, ordinal);
        take?.(isOfPassage ? owners[ordinal]! : ordinal, isOfHeading);
      });
    }
  });
  return { inPassages, inHeadings, inDocuments };
}

let termCounts = new Uint8Array(0);

/** Zeros to count terms with, valid until the next call. With arrays of their own, each word of a query would leave megabytes of garbage. */
function countTerms(passages: number, documents: number) {
  const size = 2 * passages + documents;
  if (termCounts.length < size) termCounts = new Uint8Array(size);
  else termCounts.fill(0, 0, size);
  return {
    passages: termCounts.subarray(0, passages),
    headings: termCounts.subarray(passages, 2 * passages),
    documents: termCounts.subarray(2 * passages, size),
  };
}
