/** Sorted terms with their payloads, in blocks of about one database page. */
import {
  compareBytes,
  createWriter,
  maxTermBytes,
  readFixed,
  readNumber,
  readTerm,
  writeTerm,
  type ByteReader,
} from "./bytes.ts";

/** With its header, a block of this size fills one page. */
const blockBytes = 8000;
/** One in so many terms is written whole, so that a search can begin there. */
const restartEvery = 16;

interface BlockSink {
  /** The first term of the block, and the block. */
  (first: string, block: Uint8Array): void;
}

/** Terms must come in order. */
export function createBlockWriter(sink: BlockSink) {
  const block = createWriter();
  const restarts: number[] = [];
  const before = new Uint8Array(maxTermBytes);
  let beforeLength = 0;
  let count = 0;
  let first = "";
  const flush = (): void => {
    if (count === 0) return;
    for (const restart of restarts) block.fixed(restart);
    block.fixed(restarts.length);
    sink(first, block.copy());
    block.clear();
    restarts.length = 0;
    count = 0;
  };
  return {
    add(term: Uint8Array, termLength: number, payload: Uint8Array): void {
      if (count > 0 && block.length + termLength + payload.length + restarts.length * 4 + 16 > blockBytes) flush();
      let shared = 0;
      if (count === 0) first = readTerm(term, 0, termLength);
      if (count % restartEvery === 0) restarts.push(block.length);
      else while (shared < beforeLength && shared < termLength && before[shared] === term[shared]) shared += 1;
      block.number(shared);
      block.number(termLength - shared);
      block.bytes(term, shared, termLength);
      block.number(payload.length);
      block.bytes(payload, 0, payload.length);
      for (let at = shared; at < termLength; at += 1) before[at] = term[at]!;
      beforeLength = termLength;
      count += 1;
    },
    finish: flush,
  };
}

/** Walks through a block. `term` up to `termLength` and the payload belong to the current entry. */
export interface BlockCursor {
  readonly term: Uint8Array;
  readonly termLength: number;
  /** The first four bytes of the term as a number: different numbers compare as the terms do. */
  readonly key: number;
  readonly block: Uint8Array;
  readonly payloadFrom: number;
  readonly payloadTo: number;
  /** False after the last entry. */
  next(): boolean;
  /** Continues in another block. */
  enter(block: Uint8Array): void;
}

export function walkBlock(first: Uint8Array, start = 0): BlockCursor {
  const reader: ByteReader = { bytes: first, at: start };
  const term = new Uint8Array(maxTermBytes);
  let end = restartsOf(first).at;
  const cursor = {
    term,
    termLength: 0,
    key: 0,
    block: first,
    payloadFrom: 0,
    payloadTo: 0,
    next() {
      if (reader.at >= end) return false;
      const { block } = cursor;
      const shared = readNumber(reader);
      const suffix = readNumber(reader);
      for (let at = 0; at < suffix; at += 1) term[shared + at] = block[reader.at + at]!;
      reader.at += suffix;
      const termLength = shared + suffix;
      for (let at = termLength; at < 4; at += 1) term[at] = 0;
      cursor.termLength = termLength;
      if (shared < 4) cursor.key = ((term[0]! << 24) | (term[1]! << 16) | (term[2]! << 8) | term[3]!) >>> 0;
      const length = readNumber(reader);
      cursor.payloadFrom = reader.at;
      reader.at += length;
      cursor.payloadTo = reader.at;
      return true;
    },
    enter(block: Uint8Array) {
      cursor.block = block;
      reader.bytes = block;
      reader.at = 0;
      end = restartsOf(block).at;
    },
  };
  return cursor;
}

/** Returns a cursor at the first term that is not before this one; undefined if all are. */
export function seek(block: Uint8Array, term: string): BlockCursor | undefined {
  const length = writeTerm(term, wanted);
  const { at: table, count } = restartsOf(block);
  let low = 0;
  let high = count - 1;
  const reader: ByteReader = { bytes: block, at: 0 };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    // The term at a restart shares no prefix with the one before it.
    reader.at = readFixed(block, table + middle * 4) + 1;
    const suffix = readNumber(reader);
    if (compareBytes(wanted, length, block, reader.at, reader.at + suffix) >= 0) low = middle;
    else high = middle - 1;
  }
  const cursor = walkBlock(block, readFixed(block, table + low * 4));
  while (cursor.next()) if (compareBytes(wanted, length, cursor.term, 0, cursor.termLength) <= 0) return cursor;
  return undefined;
}

const wanted = new Uint8Array(maxTermBytes);

function restartsOf(block: Uint8Array): { at: number; count: number } {
  const count = readFixed(block, block.length - 4);
  return { at: block.length - 4 - count * 4, count };
}
