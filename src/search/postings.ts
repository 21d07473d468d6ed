/** Where each term stands: lists of ordinals, collected in memory and written as bytes. */
import { createWriter, maxTermBytes, readNumber, writeTerm, type Reader, type Writer } from "./bytes.ts";

/** What a term may stand in. The first two count passages, the others documents. */
export const fields = ["body", "heading", "title", "path"] as const;
export const body = 0;
export const heading = 1;
export const title = 2;
export const path = 3;

/** Collects where terms stand. Ordinals of a field come in order. */
export interface Postings {
  /** How many places have been collected. */
  readonly size: number;
  add(term: string, field: number, ordinal: number): void;
  /** Every term once, in order, with its lists. */
  each(take: (term: Uint8Array, termLength: number, payload: Uint8Array) => void): void;
}

export function createPostings(): Postings {
  const ids = new Map<string, number>();
  let heads = new Int32Array(4096);
  let tails = new Int32Array(4096);
  let ordinals = new Uint32Array(8192);
  let counts = new Uint16Array(8192);
  let nexts = new Int32Array(8192);
  let size = 1;
  return {
    get size() {
      return size - 1;
    },
    add(term, field, ordinal) {
      let id = ids.get(term);
      if (id === undefined) {
        id = ids.size * fields.length;
        ids.set(term, id);
        if (id + fields.length > heads.length) {
          heads = doubled(heads, Int32Array);
          tails = doubled(tails, Int32Array);
        }
      }
      const list = id + field;
      const last = tails[list]!;
      if (last !== 0 && ordinals[last] === ordinal) {
        if (counts[last]! < 0xffff) counts[last]! += 1;
        return;
      }
      if (size === ordinals.length) {
        ordinals = doubled(ordinals, Uint32Array);
        counts = doubled(counts, Uint16Array);
        nexts = doubled(nexts, Int32Array);
      }
      ordinals[size] = ordinal;
      counts[size] = 1;
      if (last === 0) heads[list] = size;
      else nexts[last] = size;
      tails[list] = size;
      size += 1;
    },
    each(take) {
      const term = new Uint8Array(maxTermBytes);
      const payload = createPayload();
      for (const name of [...ids.keys()].sort()) {
        const id = ids.get(name)!;
        for (let field = 0; field < fields.length; field += 1)
          for (let at = heads[id + field]!; at !== 0; at = nexts[at]!) payload.add(field, ordinals[at]!, counts[at]!);
        take(term, writeTerm(name, term), payload.take());
      }
    },
  };
}

function doubled<T extends Int32Array | Uint32Array | Uint16Array>(from: T, Kind: new (length: number) => T): T {
  const next = new Kind(from.length * 2);
  next.set(from);
  return next;
}

/** Writes the lists of one term after another. */
export interface Payload {
  add(field: number, ordinal: number, count: number): void;
  /** The lists since the last time, as bytes that are good until the next call. Empty when there are none. */
  take(): Uint8Array;
}

export function createPayload(): Payload {
  const lists = fields.map(() => ({ bytes: createWriter(), count: 0, last: -1 }));
  const whole = createWriter();
  return {
    add(field, ordinal, count) {
      const list = lists[field]!;
      writePosting(list.bytes, ordinal - list.last - 1, count);
      list.last = ordinal;
      list.count += 1;
    },
    take() {
      whole.clear();
      const used = lists.filter(({ count }) => count > 0);
      // Most terms stand in one passage.
      if (used.length === 1 && used[0] === lists[body] && used[0]!.count === 1) whole.byte(0);
      else if (used.length > 0) {
        whole.byte(lists.reduce((flags, { count }, field) => flags | (count > 0 ? 1 << field : 0), 0));
        for (const { bytes, count } of used) {
          whole.number(count);
          whole.number(bytes.length);
        }
      }
      for (const list of used) {
        whole.bytes(list.bytes.view(), 0, list.bytes.length);
        list.bytes.clear();
        list.count = 0;
        list.last = -1;
      }
      return whole.view();
    },
  };
}

function writePosting(into: Writer, gap: number, count: number): void {
  into.number(gap * 2 + (count > 1 ? 1 : 0));
  if (count > 1) into.number(count - 2);
}

/** One term in one field: how many postings, and where their bytes are. */
export interface List {
  readonly field: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly from: number;
}

export function listsOf(bytes: Uint8Array, from: number): List[] {
  const reader: Reader = { bytes, at: from };
  const flags = bytes[reader.at++]!;
  if (flags === 0) return [{ field: body, count: 1, bytes, from: reader.at }];
  const heads: { field: number; count: number; length: number }[] = [];
  for (let field = 0; field < fields.length; field += 1)
    if ((flags & (1 << field)) !== 0) heads.push({ field, count: readNumber(reader), length: readNumber(reader) });
  let at = reader.at;
  return heads.map(({ field, count, length }) => {
    const start = at;
    at += length;
    return { field, count, bytes, from: start };
  });
}

/** Each place in order, and how often the term stands there. */
export function eachPosting({ bytes, from, count }: List, take: (ordinal: number, times: number) => void): void {
  let at = from;
  let ordinal = -1;
  for (let index = 0; index < count; index += 1) {
    let byte = bytes[at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
    }
    value >>>= 0;
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
    take(ordinal, times);
  }
}
