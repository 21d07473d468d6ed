/** Filters by required phrases, excluded words and audience. */
import type { Admitted } from "./admission.ts";
import type { FoundTerm, Lookup } from "./lookup.ts";
import { hasPhrase } from "./matches.ts";
import { body, eachPosting, headingField } from "./lists.ts";
import type { ParsedQuery } from "./query.ts";
import type { Phrase } from "./query-terms.ts";
import type { Segment } from "./segments.ts";
import type { PassageTexts } from "./texts.ts";
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
  texts: PassageTexts,
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
      inPassages[passage] === 1 && stands(phrase, texts.passage(id + passage - start)?.text ?? "");
    if (hasIt(place.passage)) return place.passage;
    for (let passage = start; passage < end; passage += 1)
      if (passage !== place.passage && hasIt(passage)) return passage;
    if (inDocuments[document] !== 1) return undefined;
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

/** 1 where all terms occur. */
export interface Places {
  readonly inPassages: Uint8Array;
  /** By passage: in its heading, or in the description of the document. */
  readonly inHeadings: Uint8Array;
  /** By document: in its title or path. */
  readonly inDocuments: Uint8Array;
}

function mayHave({ inPassages, inDocuments }: Places, { starts }: Segment, document: number): boolean {
  if (inDocuments[document] === 1) return true;
  for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1)
    if (inPassages[passage] === 1) return true;
  return false;
}

function placesOf(lookup: Lookup, phrase: Phrase): readonly Places[] {
  const terms = new Map(phrase.map((wanted) => [wanted.beginning ?? wanted.term, wanted]));
  // The first terms reduce the candidates enough; the text decides.
  const found = [...terms.values()].slice(0, 32).map((wanted) => lookup.find(wanted));
  return placesOfAll(lookup, found);
}

/** By segment. A term that is undefined occurs nowhere. */
export function placesOfAll({ segments }: Lookup, found: readonly (FoundTerm | undefined)[]): readonly Places[] {
  return segments.map((segment, at) => {
    const inPassages = new Uint8Array(segment.lengths.length);
    const inHeadings = new Uint8Array(segment.lengths.length);
    const inDocuments = new Uint8Array(segment.documents.length);
    found.forEach((one, step) => {
      if (!one || one.isGuess) return;
      // Each term counts only where all those before it occur.
      for (const list of one.lists[at]!) {
        const into = list.field === body ? inPassages : list.field === headingField ? inHeadings : inDocuments;
        eachPosting(list, (ordinal) => {
          if (into[ordinal] === step) into[ordinal] = step + 1;
        });
      }
    });
    for (const steps of [inPassages, inHeadings, inDocuments])
      for (let ordinal = 0; ordinal < steps.length; ordinal += 1)
        steps[ordinal] = steps[ordinal] === found.length ? 1 : 0;
    return { inPassages, inHeadings, inDocuments };
  });
}
