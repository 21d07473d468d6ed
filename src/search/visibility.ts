/** Which documents some callers may see, by id: decided by the server, remembered for the life of the database. */
import type { List } from "./lists.ts";
import { createListWriter, eachPosting, headingField, listsOf } from "./lists.ts";
import { longLength, type Segment } from "./segments.ts";

export interface Visibility {
  /** All documents up to this id are decided; later ones are hidden until they are. */
  readonly upTo: number;
  /** `visible` are those that may be seen, of all after `upTo` up to `last`. */
  decide(last: number, visible: readonly number[]): void;
  has(id: number): boolean;
  of(segment: Segment): VisiblePart;
}

/** The visible part of a segment. */
export interface VisiblePart {
  /** Number of passages, and their tokens. */
  readonly passages: number;
  readonly tokens: number;
  /** The visible postings of these. */
  filter(lists: readonly List[]): readonly List[];
}

export function createVisibility(): Visibility {
  let upTo = 0;
  let bits = new Uint8Array(1024);
  const parts = new WeakMap<Segment, { readonly upTo: number; readonly part: VisiblePart }>();
  const has = (id: number): boolean => (bits[id >>> 3]! & (1 << (id & 7))) !== 0;

  return {
    get upTo() {
      return upTo;
    },
    decide(last, visible) {
      if (last >>> 3 >= bits.length) {
        const more = new Uint8Array(2 * (last >>> 3) + 1);
        more.set(bits);
        bits = more;
      }
      for (const id of visible) bits[id >>> 3]! |= 1 << (id & 7);
      upTo = last;
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
  return { passages: lengths.length, tokens, filter: (lists) => lists };
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
  const writer = createListWriter();
  return {
    passages,
    tokens,
    filter(lists) {
      for (const list of lists) {
        const visible = list.field <= headingField ? ofPassages : ofDocuments;
        eachPosting(list, (ordinal, times) => {
          if (visible[ordinal] === 1) writer.add(list.field, ordinal, times);
        });
      }
      const bytes = writer.take().slice();
      return bytes.length === 0 ? [] : listsOf(bytes, 0, bytes.length);
    },
  };
}
