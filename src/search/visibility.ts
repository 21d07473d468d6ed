/** Which documents some callers may see, by id: decided by the server, remembered for the life of the database. */
import { headingField, type List } from "./lists.ts";
import { longLength, type Segment } from "./segments.ts";

/** Terms whose counts are remembered, for each segment. */
const maxCounts = 4096;

/** The decisions as bits, for an index that applies them itself. */
export interface VisibleBits {
  /** The lowest bit of the first byte is that of id 0. May be longer than needed. */
  readonly bytes: Uint8Array;
  /** Number of visible documents, and their ids in order. */
  count(): number;
  ids(): readonly number[];
}

export interface Visibility {
  /** The database that has these ids, if it is known. */
  readonly file: string | undefined;
  /** All documents up to this id are decided or postponed; later ones are hidden until they are. */
  readonly upTo: number;
  /** Documents that could not be decided, and are hidden until they are. */
  readonly postponed: readonly number[];
  /** `visible` are those that may be seen, of all that were asked about: those after `upTo` up to `last`, and with `again` those that were postponed. */
  decide(last: number, visible: readonly number[], postponed?: readonly number[], again?: boolean): void;
  has(id: number): boolean;
  of(segment: Segment): VisiblePart;
  readonly bits: VisibleBits;
  /** Differs after postponed documents were decided. */
  readonly round: number;
}

/** The visible part of a segment. */
export interface VisiblePart {
  /** Number of passages, and their tokens. */
  readonly passages: number;
  readonly tokens: number;
  /** By ordinal, 1 for what is visible. Absent if everything is. */
  readonly masks?: VisibleMasks;
}

interface VisibleMasks {
  readonly passages: Uint8Array;
  readonly documents: Uint8Array;
  /** Number of visible postings in each list of a term: counting takes as long as half a search. */
  readonly counts: Map<string, readonly number[]>;
}

export function createVisibility(file?: string): Visibility {
  let upTo = 0;
  let postponed: readonly number[] = [];
  let bits = new Uint8Array(1024);
  let round = 0;
  let visibleCount = 0;
  let parts = new WeakMap<Segment, { readonly upTo: number; readonly part: VisiblePart }>();
  const has = (id: number): boolean => (bits[id >>> 3]! & (1 << (id & 7))) !== 0;

  return {
    file,
    get upTo() {
      return upTo;
    },
    get postponed() {
      return postponed;
    },
    decide(last, visible, unknown = [], again = false) {
      postponed = again ? unknown : [...postponed, ...unknown];
      if (again) {
        parts = new WeakMap();
        round += 1;
      }
      if (last >>> 3 >= bits.length) {
        const more = new Uint8Array(2 * (last >>> 3) + 1);
        more.set(bits);
        bits = more;
      }
      for (const id of visible) {
        if (!has(id)) visibleCount += 1;
        bits[id >>> 3]! |= 1 << (id & 7);
      }
      upTo = last;
    },
    get round() {
      return round;
    },
    bits: {
      get bytes() {
        return bits.subarray(0, (upTo >>> 3) + 1);
      },
      count: () => visibleCount,
      ids() {
        const ids: number[] = [];
        bits.forEach((byte, at) => {
          for (let bit = 0; byte >> bit !== 0; bit += 1) if (((byte >> bit) & 1) === 1) ids.push(at * 8 + bit);
        });
        return ids;
      },
    },
    has,
    of(segment) {
      const known = parts.get(segment);
      if (known && (known.upTo >= segment.last || known.upTo === upTo)) return known.part;
      const part = visiblePart(segment, has);
      parts.set(segment, { upTo, part });
      return part;
    },
  };
}

/** The part of a segment that everyone sees. */
export function wholePart({ lengths, tokens }: Segment): VisiblePart {
  return { passages: lengths.length, tokens };
}

function visiblePart(segment: Segment, has: (id: number) => boolean): VisiblePart {
  const { documents, starts, lengths } = segment;
  const ofDocuments = Uint8Array.from(documents, (id) => (has(id) ? 1 : 0));
  if (ofDocuments.every((isVisible) => isVisible === 1)) return wholePart(segment);
  const ofPassages = new Uint8Array(lengths.length);
  let passages = 0;
  let tokens = 0;
  ofDocuments.forEach((isVisible, document) => {
    if (isVisible === 0) return;
    for (let passage = starts[document]!; passage < starts[document + 1]!; passage += 1) {
      ofPassages[passage] = 1;
      passages += 1;
      tokens += longLength(lengths[passage]!);
    }
  });
  return { passages, tokens, masks: { passages: ofPassages, documents: ofDocuments, counts: new Map() } };
}

/** The lists of a term that have visible postings, with their number. */
export function visibleLists({ masks }: VisiblePart, term: string, lists: readonly List[]): readonly List[] {
  if (!masks || lists.length === 0) return lists;
  const { counts } = masks;
  let known = counts.get(term);
  if (!known) {
    known = lists.map((list) => countVisible(list, list.field <= headingField ? masks.passages : masks.documents));
    if (counts.size >= maxCounts) counts.clear();
    counts.set(term, known);
  }
  return lists.map((list, at) => ({ ...list, visible: known[at]! })).filter(({ visible }) => visible > 0);
}

/** Reads numbers in place: frequent words have a posting in most passages. */
function countVisible({ bytes, from, count }: List, mask: Uint8Array): number {
  let at = from;
  let ordinal = -1;
  let visible = 0;
  for (let index = 0; index < count; index += 1) {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
    }
    ordinal += (value >>> 1) + 1;
    if ((value & 1) === 1) while (bytes[at++]! > 0x7f);
    visible += mask[ordinal]!;
  }
  return visible;
}
