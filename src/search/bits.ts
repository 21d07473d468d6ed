/** Sets of small numbers, one bit each. */

/** The empty set. */
export const noBits = new Uint8Array(0);

/** For numbers below `count`. */
export function createBits(count: number): Uint8Array {
  return new Uint8Array((count + 7) >>> 3);
}

export function setBit(bits: Uint8Array, at: number): void {
  bits[at >>> 3]! |= 1 << (at & 7);
}

/** False for numbers beyond the set. */
export function hasBit(bits: Uint8Array, at: number): boolean {
  const byte = at >>> 3;
  return byte < bits.length && (bits[byte]! & (1 << (at & 7))) !== 0;
}
