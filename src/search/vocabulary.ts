/** Numbers terms, found by the code units of a text without creating a string: most words occur again and again. */
import { grown, maxTermBytes, writeTerm } from "./bytes.ts";
import { foldedText } from "./fold.ts";
import { termOf, type TokenKind } from "./tokens.ts";

export type TermVocabulary = ReturnType<typeof createVocabulary>;

export function createVocabulary() {
  const terms: string[] = [];
  const numbers = new Map<string, number>();
  /** The first six bytes of each term, as three digits to sort by. */
  let digits = new Uint16Array(3 * 4096);

  /** Open addressing: a slot holds a hash, the position and length (0 if free) of its text in the pool, and the number of its term. */
  let slots = new Int32Array(slotSize * 16_384);
  let spellings = 0;
  let pool = new Uint16Array(32_768);
  let pooled = 0;

  function numberOfTerm(term: string): number {
    let number = numbers.get(term);
    if (number === undefined) {
      number = terms.length;
      terms.push(term);
      numbers.set(term, number);
      if (terms.length * 3 > digits.length) digits = grown(digits, digits.length * 2);
      bytes.fill(0, 0, 6);
      writeTerm(term, bytes);
      for (let digit = 0; digit < 3; digit += 1)
        digits[number * 3 + digit] = (bytes[digit * 2]! << 8) | bytes[digit * 2 + 1]!;
    }
    return number;
  }

  function remember(hash: number, units: Uint16Array, from: number, to: number, kind: TokenKind): number {
    spellings += 1;
    if (spellings * slotSize * 2 > slots.length) {
      const old = slots;
      slots = new Int32Array(old.length * 2);
      for (let at = 0; at < old.length; at += slotSize)
        if (old[at + 2] !== 0) slots.set(old.subarray(at, at + slotSize), freeSlot(old[at]!));
    }
    while (pooled + to - from > pool.length) pool = grown(pool, pool.length * 2);
    const number = numberOfTerm(termOf(foldedText(units, from, to), kind));
    slots.set([hash, pooled, to - from, number], freeSlot(hash));
    for (let at = from; at < to; at += 1) pool[pooled++] = units[at]!;
    return number;
  }

  function freeSlot(hash: number): number {
    const mask = slots.length / slotSize - 1;
    let slot = hash & mask;
    while (slots[slot * slotSize + 2] !== 0) slot = (slot + 1) & mask;
    return slot * slotSize;
  }

  return {
    /** Number of terms; the next gets this number. */
    get size(): number {
      return terms.length;
    },
    /** The number of the term at this position in folded text. */
    numberAt(units: Uint16Array, from: number, to: number, kind: TokenKind): number {
      let hash = to - from;
      for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ units[at]!, 0x01000193);
      hash ^= hash >>> 15;
      const mask = slots.length / slotSize - 1;
      const length = to - from;
      for (let slot = hash & mask; slots[slot * slotSize + 2] !== 0; slot = (slot + 1) & mask) {
        const at = slot * slotSize;
        if (slots[at] !== hash || slots[at + 2] !== length) continue;
        const start = slots[at + 1]!;
        let same = 0;
        while (same < length && pool[start + same] === units[from + same]) same += 1;
        if (same === length) return slots[at + 3]!;
      }
      return remember(hash, units, from, to, kind);
    },
    /** The number of the term for this folded text. */
    numberOf: (ownText: string, kind: TokenKind): number => numberOfTerm(termOf(ownText, kind)),
    /** The number of an index term. */
    numberOfTerm,
    termOf: (number: number): string => terms[number]!,
    /** Forgets all terms, and keeps the memory for others. */
    clear(): void {
      terms.length = 0;
      numbers.clear();
      slots.fill(0);
      spellings = 0;
      pooled = 0;
    },
    /** Sorts the numbers by their terms. */
    sort(wanted: Int32Array<ArrayBuffer>): Int32Array {
      if (wanted.length < 2000) return wanted.sort((left, right) => compare(terms[left]!, terms[right]!));
      const sorted = sortByDigits(wanted, digits);
      // Terms with the same first six bytes are few, and adjacent.
      for (let from = 0; from < sorted.length;) {
        let to = from + 1;
        while (to < sorted.length && hasSameDigits(digits, sorted[from]!, sorted[to]!)) to += 1;
        if (to - from > 1) sorted.subarray(from, to).sort((left, right) => compare(terms[left]!, terms[right]!));
        from = to;
      }
      return sorted;
    },
  };
}

const bytes = new Uint8Array(maxTermBytes);
const slotSize = 4;

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function hasSameDigits(digits: Uint16Array, left: number, right: number): boolean {
  return (
    digits[left * 3] === digits[right * 3] &&
    digits[left * 3 + 1] === digits[right * 3 + 1] &&
    digits[left * 3 + 2] === digits[right * 3 + 2]
  );
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
