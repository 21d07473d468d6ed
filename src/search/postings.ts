/** Collects the postings of terms in memory, encoded as they are written: thousands of texts take a few megabytes. */
import { createWriter, grown, maxTermBytes } from "./bytes.ts";
import { body, fields } from "./lists.ts";
import type { TermVocabulary } from "./vocabulary.ts";

export type TakeTerm = (term: Uint8Array, termLength: number, lists: Uint8Array) => void;

export type Postings = ReturnType<typeof createPostings>;

/**
 * What is known of a list, from its number times `stateSize` on. Its last posting is not encoded yet: the term may occur there again, and a list of
 * one posting needs no room in the pool.
 */
const stateSize = 8;
/** The number of encoded bytes times four, plus the field. */
const lengthAndField = 0;
const last = 1;
/** From the posting before to the last one. */
const gap = 2;
const times = 3;
const count = 4;
/** Start of the first slice, position of the next byte, and end of the last slice. */
const first = 5;
const next = 6;
const end = 7;

/** A slice is as long as all before it together, within these limits. Four more bytes hold the position of the next one. */
const minSlice = 12;
const maxSlice = 4096;

export function createPostings(vocabulary: TermVocabulary) {
  /** The first list of each term, and the next list of the same term. Lists count from 1. */
  let heads = new Int32Array(0);
  let siblings = new Int32Array(4096);
  let state = new Int32Array(4096 * stateSize);
  let lists = 1;
  /** Terms that have a posting. */
  let met = new Int32Array(4096);
  let metCount = 0;
  let pool = new Uint8Array(65_536);
  let pooled = 0;
  const whole = createWriter();
  const term = new Uint8Array(maxTermBytes);
  const ofTerm = new Int32Array(fields.length);

  function open(number: number, field: number, ordinal: number): void {
    if (heads[number] === 0) {
      if (metCount === met.length) met = grown(met, metCount * 2);
      met[metCount++] = number;
    }
    if (lists === siblings.length) {
      siblings = grown(siblings, lists * 2);
      state = grown(state, lists * 2 * stateSize);
    }
    siblings[lists] = heads[number]!;
    heads[number] = lists;
    const at = lists * stateSize;
    state[at + lengthAndField] = field;
    state[at + last] = ordinal;
    state[at + gap] = ordinal;
    state[at + times] = 1;
    state[at + count] = 1;
    state[at + first] = 0;
    state[at + next] = 0;
    state[at + end] = 0;
    lists += 1;
  }

  function pushByte(at: number, byte: number): void {
    let to = state[at + next]!;
    if (to === state[at + end]) {
      const size = sliceAfter(state[at + lengthAndField]! >> 2);
      while (pooled + size + 4 > pool.length) pool = grown(pool, pool.length * 2);
      if (to === 0) state[at + first] = pooled;
      else writePointer(pool, to, pooled);
      to = pooled;
      pooled += size + 4;
      state[at + end] = to + size;
    }
    pool[to] = byte;
    state[at + next] = to + 1;
    state[at + lengthAndField]! += 4;
  }

  function pushNumber(at: number, value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      pushByte(at, (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    pushByte(at, rest);
  }

  function pushLast(at: number): void {
    const often = state[at + times]!;
    pushNumber(at, (state[at + gap]! * 2 + (often > 1 ? 1 : 0)) >>> 0);
    if (often > 1) pushNumber(at, often - 2);
  }

  function copyList(at: number): void {
    let rest = state[at + lengthAndField]! >> 2;
    let from = state[at + first]!;
    for (let copied = 0; rest > 0;) {
      const size = sliceAfter(copied);
      const length = Math.min(rest, size);
      whole.bytes(pool, from, from + length);
      copied += length;
      rest -= length;
      if (rest > 0) from = readPointer(pool, from + size);
    }
  }

  /** Encodes the lists of a term as a list writer does. */
  function encode(number: number): Uint8Array {
    ofTerm.fill(0);
    let flags = 0;
    for (let list = heads[number]!; list !== 0; list = siblings[list]!) {
      const at = list * stateSize;
      const field = state[at + lengthAndField]! & 3;
      pushLast(at);
      ofTerm[field] = at;
      flags |= 1 << field;
    }
    whole.clear();
    if (flags === 1 && state[ofTerm[body]! + count] === 1) whole.byte(0);
    else {
      whole.byte(flags);
      for (let field = 0; field < ofTerm.length; field += 1) {
        const at = ofTerm[field]!;
        if (at === 0) continue;
        whole.number(state[at + count]!);
        whole.number(state[at + last]!);
        if (flags >> (field + 1) !== 0) whole.number(state[at + lengthAndField]! >> 2);
      }
    }
    for (let field = 0; field < ofTerm.length; field += 1) if (ofTerm[field] !== 0) copyList(ofTerm[field]!);
    return whole.view();
  }

  return {
    /** Memory that the collected postings take. */
    get bytes(): number {
      return pooled + lists * (stateSize + 1) * 4;
    },
    /** Adds a posting of a term, given by its number. Ordinals of a field must be in order. */
    add(number: number, field: number, ordinal: number): void {
      if (number >= heads.length) heads = grown(heads, Math.max(4096, number * 2));
      let list = heads[number]!;
      while (list !== 0 && (state[list * stateSize + lengthAndField]! & 3) !== field) list = siblings[list]!;
      if (list === 0) {
        open(number, field, ordinal);
        return;
      }
      const at = list * stateSize;
      if (state[at + last] === ordinal) {
        if (state[at + times]! < 0xffff) state[at + times]! += 1;
        return;
      }
      pushLast(at);
      state[at + gap] = ordinal - state[at + last]! - 1;
      state[at + last] = ordinal;
      state[at + times] = 1;
      state[at + count]! += 1;
    },
    /** Passes every term once, in order, with its lists. Afterwards the collection is empty. */
    take(take: TakeTerm): void {
      for (const number of vocabulary.sort(met.slice(0, metCount))) {
        take(term, vocabulary.copyTerm(number, term), encode(number));
        heads[number] = 0;
      }
      metCount = 0;
      lists = 1;
      pooled = 0;
    },
  };
}

/** Size of the slice that follows so many bytes. */
function sliceAfter(length: number): number {
  return length < minSlice ? minSlice : length > maxSlice ? maxSlice : length;
}

function writePointer(pool: Uint8Array, at: number, value: number): void {
  pool[at] = value & 0xff;
  pool[at + 1] = (value >>> 8) & 0xff;
  pool[at + 2] = (value >>> 16) & 0xff;
  pool[at + 3] = value >>> 24;
}

function readPointer(pool: Uint8Array, at: number): number {
  return (pool[at]! | (pool[at + 1]! << 8) | (pool[at + 2]! << 16) | (pool[at + 3]! << 24)) >>> 0;
}
