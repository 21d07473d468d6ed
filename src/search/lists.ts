/** Encodes posting lists as bytes: the ordinals where a term occurs, and how often. */
import { createWriter, readNumber, type ByteReader, type ByteWriter } from "./bytes.ts";

/** Fields in which a term may occur. The first two count passages, the others documents. */
export const fields = ["body", "heading", "title", "path"] as const;
export const body = 0;
export const headingField = 1;
export const title = 2;
export const path = 3;

/** The postings of one term in one field. */
export interface List {
  readonly field: number;
  readonly count: number;
  /** Number of postings in documents that the caller may see. Absent if all are. */
  readonly visible?: number;
  /** The last ordinal. */
  readonly last: number;
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Writes the lists of one term after another. */
export function createListWriter() {
  const lists = fields.map(() => ({ bytes: createWriter(), count: 0, last: -1 }));
  const whole = createWriter();
  const reader: ByteReader = { bytes: whole.view(), at: 0 };

  /** Copies from the current position of the reader. For one posting, the last is the first. */
  function copy(field: number, count: number, last: number, from: number, to: number, by: number): void {
    const list = lists[field]!;
    reader.at = from;
    const first = readNumber(reader);
    // Only the first gap changes.
    list.bytes.number((((first >>> 1) + by - list.last - 1) * 2 + (first & 1)) >>> 0);
    list.bytes.bytes(reader.bytes, reader.at, to);
    list.last = (count === 1 ? first >>> 1 : last) + by;
    list.count += count;
  }

  return {
    /** Ordinals of a field must be in order. */
    add(field: number, ordinal: number, times: number): void {
      const list = lists[field]!;
      writePosting(list.bytes, ordinal - list.last - 1, times);
      list.last = ordinal;
      list.count += 1;
    },
    /** Appends lists from another writer, with the ordinals of passages and documents shifted by these amounts. */
    append(bytes: Uint8Array, from: number, to: number, passagesBy: number, documentsBy: number): void {
      reader.bytes = bytes;
      reader.at = from;
      const flags = bytes[reader.at++]!;
      if (flags === 0) {
        copy(body, 1, -1, reader.at, to, passagesBy);
        return;
      }
      if (flags === 1) {
        const count = readNumber(reader);
        const last = readNumber(reader);
        copy(body, count, last, reader.at, to, passagesBy);
        return;
      }
      for (const list of listsOf(bytes, from, to))
        copy(
          list.field,
          list.count,
          list.last,
          list.from,
          list.to,
          list.field <= headingField ? passagesBy : documentsBy,
        );
    },
    /** Returns the lists since the last call, as bytes valid until the next call. Empty if there are none. */
    take(): Uint8Array {
      whole.clear();
      let flags = 0;
      for (let field = 0; field < lists.length; field += 1) if (lists[field]!.count > 0) flags |= 1 << field;
      if (flags === 0) return whole.view();
      // Most terms occur in one passage.
      if (flags === 1 && lists[body]!.count === 1) whole.byte(0);
      else {
        whole.byte(flags);
        for (let field = 0; field < lists.length; field += 1) {
          const { count, last, bytes } = lists[field]!;
          if (count === 0) continue;
          whole.number(count);
          whole.number(last);
          if (flags >> (field + 1) !== 0) whole.number(bytes.length);
        }
      }
      for (let field = 0; field < lists.length; field += 1) {
        const list = lists[field]!;
        if (list.count === 0) continue;
        whole.bytes(list.bytes.view(), 0, list.bytes.length);
        list.bytes.clear();
        list.count = 0;
        list.last = -1;
      }
      return whole.view();
    },
  };
}

function writePosting(into: ByteWriter, gap: number, times: number): void {
  into.number((gap * 2 + (times > 1 ? 1 : 0)) >>> 0);
  if (times > 1) into.number(times - 2);
}

/** Reads what a list writer wrote. */
export function listsOf(bytes: Uint8Array, from: number, to: number): List[] {
  const reader: ByteReader = { bytes, at: from };
  const flags = bytes[reader.at++]!;
  if (flags === 0) {
    const start = reader.at;
    return [{ field: body, count: 1, last: readNumber(reader) >>> 1, bytes, from: start, to }];
  }
  const heads: { field: number; count: number; last: number; length: number }[] = [];
  for (let field = 0; field < fields.length; field += 1)
    if ((flags & (1 << field)) !== 0)
      heads.push({
        field,
        count: readNumber(reader),
        last: readNumber(reader),
        length: flags >> (field + 1) !== 0 ? readNumber(reader) : -1,
      });
  let at = reader.at;
  return heads.map(({ field, count, last, length }) => {
    const start = at;
    at = length === -1 ? to : at + length;
    return { field, count, last, bytes, from: start, to: at };
  });
}

/** Calls `take` with each ordinal in order, and how often the term occurs there. */
export function eachPosting({ bytes, from, count }: List, take: (ordinal: number, times: number) => void): void {
  const reader: ByteReader = { bytes, at: from };
  let ordinal = -1;
  for (let index = 0; index < count; index += 1) {
    const value = readNumber(reader);
    ordinal += (value >>> 1) + 1;
    take(ordinal, (value & 1) === 1 ? readNumber(reader) + 2 : 1);
  }
}
