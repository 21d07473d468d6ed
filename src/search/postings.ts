/** Collects the postings of terms in memory. */
import { grown, maxTermBytes, writeTerm } from "./bytes.ts";
import { createListWriter, fields } from "./lists.ts";
import type { TermVocabulary } from "./vocabulary.ts";

export type TakeTerm = (term: Uint8Array, termLength: number, lists: Uint8Array) => void;

export type Postings = ReturnType<typeof createPostings>;

export function createPostings(vocabulary: TermVocabulary) {
  /** By term and field: the first and the last of its postings, counted from 1. */
  let heads = new Int32Array(0);
  let tails = new Int32Array(0);
  /** Terms that have a posting. */
  let met = new Int32Array(4096);
  let isMet = new Uint8Array(0);
  let metCount = 0;
  let ordinals = new Uint32Array(8192);
  let times = new Uint16Array(8192);
  let nexts = new Int32Array(8192);
  let size = 0;
  const writer = createListWriter();
  const bytes = new Uint8Array(maxTermBytes);
  return {
    /** Number of postings collected. */
    get size(): number {
      return size;
    },
    /** Adds a posting of a term, given by its number. Ordinals of a field must be in order. */
    add(number: number, field: number, ordinal: number): void {
      if (number >= isMet.length) {
        const room = Math.max(1024, number * 2);
        isMet = grown(isMet, room);
        heads = grown(heads, room * fields.length);
        tails = grown(tails, room * fields.length);
      }
      if (isMet[number] === 0) {
        isMet[number] = 1;
        if (metCount === met.length) met = grown(met, metCount * 2);
        met[metCount++] = number;
      }
      const list = number * fields.length + field;
      const last = tails[list]!;
      if (last !== 0 && ordinals[last] === ordinal) {
        if (times[last]! < 0xffff) times[last]! += 1;
        return;
      }
      size += 1;
      if (size === ordinals.length) {
        ordinals = grown(ordinals, size * 2);
        times = grown(times, size * 2);
        nexts = grown(nexts, size * 2);
      }
      ordinals[size] = ordinal;
      times[size] = 1;
      nexts[size] = 0;
      if (last === 0) heads[list] = size;
      else nexts[last] = size;
      tails[list] = size;
    },
    /** Passes every term once, in order, with its lists. Afterwards the collection is empty. */
    take(take: TakeTerm): void {
      for (const number of vocabulary.sort(met.slice(0, metCount))) {
        const first = number * fields.length;
        for (let field = 0; field < fields.length; field += 1) {
          let at = heads[first + field]!;
          if (at === 0) continue;
          heads[first + field] = 0;
          tails[first + field] = 0;
          do {
            writer.add(field, ordinals[at]!, times[at]!);
            at = nexts[at]!;
          } while (at !== 0);
        }
        isMet[number] = 0;
        take(bytes, writeTerm(vocabulary.termOf(number), bytes), writer.take());
      }
      metCount = 0;
      size = 0;
    },
  };
}
