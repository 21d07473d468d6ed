/** The terms of one passage with their numbers of occurrences, in few bytes. */
import { createWriter, readNumber, type ByteReader } from "../bytes.ts";
import { body, fields } from "../lists.ts";

export interface PostingsHead {
  readonly document: number;
  readonly ordinal: number;
  /** Number of passages of the document. */
  readonly siblings: number;
  /** Encoded by `shortLength`. */
  readonly length: number;
}

export type PostingsWriter = ReturnType<typeof createPostingsWriter>;

export function createPostingsWriter() {
  const writer = createWriter();
  const terms = createWriter();
  let last = 0;
  return {
    /** Terms in ascending order. `times` by field, of which one at least is not 0. */
    add(term: number, times: ArrayLike<number>): void {
      const isPlain = times[body] === 1 && !times[1] && !times[2] && !times[3];
      terms.number((term - last) * 2 + (isPlain ? 0 : 1));
      last = term;
      if (isPlain) return;
      let flags = 0;
      for (let field = 0; field < fields.length; field += 1) if (times[field]! > 0) flags |= 1 << field;
      terms.byte(flags);
      for (let field = 0; field < fields.length; field += 1) if (times[field]! > 0) terms.number(times[field]!);
    },
    finish({ document, ordinal, siblings, length }: PostingsHead): Uint8Array {
      writer.clear();
      for (const number of [document, ordinal, siblings]) writer.number(number);
      writer.byte(length);
      writer.number(terms.length);
      writer.bytes(terms.view(), 0, terms.length);
      terms.clear();
      last = 0;
      return writer.copy();
    },
  };
}

export interface ReadPostings extends PostingsHead {
  readonly bytes: Uint8Array;
  /** Where its terms are in the bytes. */
  readonly from: number;
  readonly to: number;
}

/** Reads what was written one after another. */
export function readPostings(bytes: Uint8Array): ReadPostings[] {
  const reader: ByteReader = { bytes, at: 0 };
  const read: ReadPostings[] = [];
  while (reader.at < bytes.length) {
    const document = readNumber(reader);
    const ordinal = readNumber(reader);
    const siblings = readNumber(reader);
    const length = bytes[reader.at++]!;
    const size = readNumber(reader);
    read.push({ document, ordinal, siblings, length, bytes, from: reader.at, to: reader.at + size });
    reader.at += size;
  }
  return read;
}

/** Calls `take` for each of these terms, which are in ascending order, and each of its fields. */
export function eachOccurrence(
  { bytes, from, to }: Pick<ReadPostings, "bytes" | "from" | "to">,
  wanted: Uint32Array,
  take: (term: number, field: number, times: number) => void,
): void {
  const reader: ByteReader = { bytes, at: from };
  let term = 0;
  let next = 0;
  while (reader.at < to) {
    const value = readNumber(reader);
    term += value >>> 1;
    while (next < wanted.length && wanted[next]! < term) next += 1;
    if (next === wanted.length) return;
    const isWanted = wanted[next] === term;
    if ((value & 1) === 0) {
      if (isWanted) take(term, body, 1);
      continue;
    }
    const flags = bytes[reader.at++]!;
    for (let field = 0; field < fields.length; field += 1) {
      if ((flags & (1 << field)) === 0) continue;
      const times = readNumber(reader);
      if (isWanted) take(term, field, times);
    }
  }
}
