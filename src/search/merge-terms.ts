/** Merges the terms of several segments. */
import { walkBlock, type BlockCursor } from "./blocks.ts";
import { compareBytes } from "./bytes.ts";
import { createListWriter, eachPosting, headingField, listsOf } from "./lists.ts";
import type { TakeTerm } from "./postings.ts";

export interface Stream {
  /** Returns the blocks in order; undefined after the last. */
  nextBlock(): Uint8Array | undefined;
  readonly passages: Moved;
  readonly documents: Moved;
}

/** New ordinals after a merge. */
export interface Moved {
  /** -1 for removed ones. */
  readonly to: Int32Array;
  /** Shift of all ordinals; undefined if some are removed. */
  readonly by: number | undefined;
}

/** Ordinals of a later stream must follow those of an earlier one. */
export function mergeTerms(streams: readonly Stream[], take: TakeTerm): void {
  const writer = createListWriter();
  let open: Open[] = [];
  for (const stream of streams) {
    const block = stream.nextBlock();
    const one = block && { stream, at: walkBlock(block) };
    if (one && advance(one)) open.push(one);
  }
  const same: Open[] = [];
  while (open.length > 0) {
    let least = open[0]!.at;
    same.length = 0;
    for (const one of open) {
      const order = one.at === least ? 0 : compare(one.at, least);
      if (order < 0) {
        least = one.at;
        same.length = 0;
      }
      if (order <= 0) same.push(one);
    }
    for (const { stream, at } of same) {
      const { passages, documents } = stream;
      if (passages.by !== undefined && documents.by !== undefined)
        writer.append(at.block, at.payloadFrom, at.payloadTo, passages.by, documents.by);
      else
        for (const list of listsOf(at.block, at.payloadFrom, at.payloadTo)) {
          const { to } = list.field <= headingField ? passages : documents;
          eachPosting(list, (ordinal, times) => {
            if (to[ordinal]! >= 0) writer.add(list.field, to[ordinal]!, times);
          });
        }
    }
    const lists = writer.take();
    if (lists.length > 0) take(least.term, least.termLength, lists);
    let hasEnded = false;
    for (const one of same) if (!advance(one)) hasEnded = one.isDone = true;
    if (hasEnded) open = open.filter(({ isDone }) => !isDone);
  }
}

interface Open {
  readonly stream: Stream;
  at: BlockCursor;
  isDone?: boolean;
}

function advance({ stream, at }: Open): boolean {
  while (!at.next()) {
    const block = stream.nextBlock();
    if (!block) return false;
    at.enter(block);
  }
  return true;
}

function compare(left: BlockCursor, right: BlockCursor): number {
  if (left.key !== right.key) return left.key - right.key;
  return compareBytes(left.term, left.termLength, right.term, 0, right.termLength);
}
