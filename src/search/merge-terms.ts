/** Several segments' terms as those of one. */
import { walkBlock, type BlockCursor } from "./blocks.ts";
import { compareBytes } from "./bytes.ts";
import { createPayload, eachPosting, heading, listsOf } from "./postings.ts";

export type TakeTerm = (term: Uint8Array, termLength: number, payload: Uint8Array) => void;

export interface Stream {
  /** The blocks in order; undefined behind the last. */
  nextBlock(): Uint8Array | undefined;
  /** What a passage's or a document's ordinal becomes; -1 for those that are gone. */
  readonly toPassage: Int32Array;
  readonly toDocument: Int32Array;
}

/** Ordinals of a later stream must be behind those of an earlier one. */
export function mergeTerms(streams: readonly Stream[], take: TakeTerm): void {
  const payload = createPayload();
  let open = streams.map((stream) => ({ stream, at: firstOf(stream) })).filter(({ at }) => at !== undefined) as Open[];
  while (open.length > 0) {
    let least = open[0]!.at;
    for (const { at } of open) if (compare(at, least) < 0) least = at;
    const same = open.filter(({ at }) => at === least || compare(at, least) === 0);
    for (const { stream, at } of same)
      for (const list of listsOf(at.block, at.payloadFrom)) {
        const becomes = list.field <= heading ? stream.toPassage : stream.toDocument;
        eachPosting(list, (ordinal, times) => {
          const now = becomes[ordinal]!;
          if (now >= 0) payload.add(list.field, now, times);
        });
      }
    const bytes = payload.take();
    if (bytes.length > 0) take(least.term, least.termLength, bytes);
    let ended: Open | undefined;
    for (const one of same) {
      if (one.at.next()) continue;
      const next = firstOf(one.stream);
      if (next) one.at = next;
      else (ended = one).isDone = true;
    }
    if (ended) open = open.filter(({ isDone }) => !isDone);
  }
}

interface Open {
  readonly stream: Stream;
  at: BlockCursor;
  isDone?: boolean;
}

function firstOf(stream: Stream): BlockCursor | undefined {
  const block = stream.nextBlock();
  if (!block) return undefined;
  const cursor = walkBlock(block);
  return cursor.next() ? cursor : firstOf(stream);
}

function compare(left: BlockCursor, right: BlockCursor): number {
  return compareBytes(left.term, left.termLength, right.term, 0, right.termLength);
}
