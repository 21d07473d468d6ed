/** Numbers terms, found by the code units of a text without creating a string: most words occur again and again. */
import { compareBytes, grown, maxTermBytes, readTerm, writeTerm } from "./bytes.ts";
import { foldedText } from "./fold.ts";
import { termOf, type TokenKind } from "./tokens.ts";

export type TermVocabulary = ReturnType<typeof createVocabulary>;

/** Everything is kept in typed arrays: strings and maps of 300,000 terms would take 75 MB. */
export function createVocabulary() {
  /** The terms one after another as bytes, and where each ends. */
  let bytes = new Uint8Array(32_768);
  let ends = new Uint32Array(4096);
  let size = 0;
  /** The first six bytes of each term, as three digits to sort by. */
  let digits = new Uint16Array(3 * 4096);
  /** Open addressing by the bytes of a term: its number plus one, or 0 if free. */
  let terms = new Int32Array(8192);

  /** Open addressing by code units: the position of the spelling in the pool, or 0 if free. */
  let slots = new Int32Array(16_384);
  let spellings = 0;
  /** For each spelling the number of its term in two halves, its length, and its code units. In one place, which takes one access to memory. */
  let pool = new Uint16Array(32_768);
  let pooled = 1;

  const startOf = (number: number): number => (number === 0 ? 0 : ends[number - 1]!);

  function numberOfTerm(term: string): number {
    const length = writeTerm(term, wanted);
    const mask = terms.length - 1;
    let slot = hashOf(wanted, 0, length) & mask;
    for (let known = terms[slot]!; known !== 0; known = terms[slot]!) {
      if (compareBytes(wanted, length, bytes, startOf(known - 1), ends[known - 1]!) === 0) return known - 1;
      slot = (slot + 1) & mask;
    }
    const number = size++;
    terms[slot] = size;
    if (size > ends.length) {
      ends = grown(ends, ends.length * 2);
      digits = grown(digits, digits.length * 2);
    }
    const start = startOf(number);
    while (start + length > bytes.length) bytes = grown(bytes, bytes.length * 2);
    for (let at = 0; at < length; at += 1) bytes[start + at] = wanted[at]!;
    ends[number] = start + length;
    for (let at = length; at < 6; at += 1) wanted[at] = 0;
    for (let digit = 0; digit < 3; digit += 1)
      digits[number * 3 + digit] = (wanted[digit * 2]! << 8) | wanted[digit * 2 + 1]!;
    // The last term, too, is moved by its bytes, which must be there.
    if (size * 2 > terms.length) growTerms();
    return number;
  }

  function growTerms(): void {
    terms = new Int32Array(terms.length * 2);
    const mask = terms.length - 1;
    for (let number = 0; number < size; number += 1) {
      let slot = hashOf(bytes, startOf(number), ends[number]!) & mask;
      while (terms[slot] !== 0) slot = (slot + 1) & mask;
      terms[slot] = number + 1;
    }
  }

  function growSlots(): void {
    const old = slots;
    slots = new Int32Array(old.length * 2);
    const mask = slots.length - 1;
    for (const at of old) {
      if (at === 0) continue;
      let slot = hashOf(pool, at + 3, at + 3 + pool[at + 2]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = at;
    }
  }

  function remember(slot: number, units: Uint16Array, from: number, to: number, kind: TokenKind): number {
    const number = numberOfTerm(termOf(foldedText(units, from, to), kind));
    while (pooled + 3 + to - from > pool.length) pool = grown(pool, pool.length * 2);
    slots[slot] = pooled;
    pool[pooled++] = number & 0xffff;
    pool[pooled++] = number >>> 16;
    pool[pooled++] = to - from;
    for (let at = from; at < to; at += 1) pool[pooled++] = units[at]!;
    spellings += 1;
    if (spellings * 2 > slots.length) growSlots();
    return number;
  }

  function compare(left: number, right: number): number {
    const start = startOf(left);
    const length = ends[left]! - start;
    for (let at = 0; at < length; at += 1) wanted[at] = bytes[start + at]!;
    return compareBytes(wanted, length, bytes, startOf(right), ends[right]!);
  }

  return {
    /** Number of terms; the next gets this number. */
    get size(): number {
      return size;
    },
    /** The number of the term at this position in folded text. */
    numberAt(units: Uint16Array, from: number, to: number, kind: TokenKind): number {
      const length = to - from;
      const mask = slots.length - 1;
      let slot = hashOf(units, from, to) & mask;
      for (let at = slots[slot]!; at !== 0; at = slots[slot]!) {
        if (pool[at + 2] === length) {
          let same = 0;
          while (same < length && pool[at + 3 + same] === units[from + same]) same += 1;
          if (same === length) return pool[at]! | (pool[at + 1]! << 16);
        }
        slot = (slot + 1) & mask;
      }
      return remember(slot, units, from, to, kind);
    },
    /** The number of the term for this folded text. */
    numberOf: (ownText: string, kind: TokenKind): number => numberOfTerm(termOf(ownText, kind)),
    /** The number of an index term. */
    numberOfTerm,
    termOf: (number: number): string => readTerm(bytes, startOf(number), ends[number]!),
    /** Writes the bytes of a term, as `writeTerm` does, and returns their number. */
    copyTerm(number: number, into: Uint8Array): number {
      const start = startOf(number);
      const length = ends[number]! - start;
      for (let at = 0; at < length; at += 1) into[at] = bytes[start + at]!;
      return length;
    },
    /** Forgets all terms, and keeps the memory for others. */
    clear(): void {
      terms.fill(0);
      size = 0;
      slots.fill(0);
      spellings = 0;
      pooled = 1;
    },
    /** Sorts the numbers by their terms. */
    sort(numbers: Int32Array<ArrayBuffer>): Int32Array {
      if (numbers.length < 2000) return numbers.sort(compare);
      const sorted = sortByDigits(numbers, digits);
      // Terms with the same first six bytes are few, and adjacent.
      for (let from = 0; from < sorted.length;) {
        let to = from + 1;
        while (to < sorted.length && hasSameDigits(digits, sorted[from]!, sorted[to]!)) to += 1;
        if (to - from > 16) sorted.subarray(from, to).sort(compare);
        else if (to - from > 1) sortFew(sorted, from, to, compare);
        from = to;
      }
      return sorted;
    },
  };
}

const wanted = new Uint8Array(maxTermBytes);

function hashOf(units: Uint16Array | Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ units[at]!, 0x01000193);
  // The lowest bits of a product depend on the lowest bits of its factors alone.
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

function hasSameDigits(digits: Uint16Array, left: number, right: number): boolean {
  return (
    digits[left * 3] === digits[right * 3] &&
    digits[left * 3 + 1] === digits[right * 3 + 1] &&
    digits[left * 3 + 2] === digits[right * 3 + 2]
  );
}

/** By insertion: calling the engine's sort for two or three elements takes longer. */
function sortFew(
  numbers: Int32Array,
  from: number,
  to: number,
  compare: (left: number, right: number) => number,
): void {
  for (let next = from + 1; next < to; next += 1) {
    const number = numbers[next]!;
    let at = next;
    for (; at > from && compare(numbers[at - 1]!, number) > 0; at -= 1) numbers[at] = numbers[at - 1]!;
    numbers[at] = number;
  }
}

/** A radix sort, from the last digit to the first. */
function sortByDigits(numbers: Int32Array<ArrayBuffer>, digits: Uint16Array): Int32Array<ArrayBuffer> {
  let from = numbers;
  let to = new Int32Array(numbers.length);
  const places = new Uint32Array(0x10001);
  for (let digit = 2; digit >= 0; digit -= 1) {
    places.fill(0);
    for (let at = 0; at < from.length; at += 1) places[digits[from[at]! * 3 + digit]! + 1]! += 1;
    for (let value = 1; value < places.length; value += 1) places[value]! += places[value - 1]!;
    for (let at = 0; at < from.length; at += 1) {
      const number = from[at]!;
      to[places[digits[number * 3 + digit]!]!++] = number;
    }
    [from, to] = [to, from];
  }
  return from;
}
