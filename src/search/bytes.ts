/** Encodes numbers and terms in few bytes. */

/** A growing byte buffer. */
export type ByteWriter = ReturnType<typeof createWriter>;

export function createWriter() {
  let bytes = new Uint8Array(4096);
  let length = 0;
  const makeRoom = (more: number): void => {
    bytes = grown(bytes, Math.max(bytes.length * 2, length + more));
  };
  return {
    /** Number of bytes written. */
    get length(): number {
      return length;
    },
    byte(value: number): void {
      if (length + 1 > bytes.length) makeRoom(1);
      bytes[length++] = value;
    },
    /** Writes an integer from 0 to 2^32-1, seven bits to a byte. */
    number(value: number): void {
      if (length + 5 > bytes.length) makeRoom(5);
      if (value < 0x80) {
        bytes[length++] = value;
        return;
      }
      let rest = value;
      while (rest > 0x7f) {
        bytes[length++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      bytes[length++] = rest;
    },
    bytes(from: Uint8Array, start: number, end: number): void {
      if (length + end - start > bytes.length) makeRoom(end - start);
      if (end - start > 64) {
        bytes.set(from.subarray(start, end), length);
        length += end - start;
      } else for (let at = start; at < end; at += 1) bytes[length++] = from[at]!;
    },
    /** Writes four bytes, whatever the value. */
    fixed(value: number): void {
      if (length + 4 > bytes.length) makeRoom(4);
      bytes[length++] = value & 0xff;
      bytes[length++] = (value >>> 8) & 0xff;
      bytes[length++] = (value >>> 16) & 0xff;
      bytes[length++] = value >>> 24;
    },
    clear(): void {
      length = 0;
    },
    /** The current bytes: the next write may change them. */
    view: (): Uint8Array => bytes.subarray(0, length),
    copy: (): Uint8Array => bytes.slice(0, length),
  };
}

/** Reads what a `ByteWriter` wrote. */
export interface ByteReader {
  bytes: Uint8Array;
  at: number;
}

export function readNumber(from: ByteReader): number {
  const { bytes } = from;
  let byte = bytes[from.at++]!;
  if (byte < 0x80) return byte;
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35; shift += 7) {
    byte = bytes[from.at++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value >>> 0;
}

export function readFixed(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Writes each code unit of a term as UTF-8 would write it alone: bytes sort as strings do. */
export function writeTerm(term: string, into: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < term.length; at += 1) {
    const unit = term.charCodeAt(at);
    if (unit < 0x80) into[length++] = unit;
    else {
      if (unit < 0x800) into[length++] = 0xc0 | (unit >> 6);
      else {
        into[length++] = 0xe0 | (unit >> 12);
        into[length++] = 0x80 | ((unit >> 6) & 0x3f);
      }
      into[length++] = 0x80 | (unit & 0x3f);
    }
  }
  return length;
}

/** Maximum number of bytes of a term. */
export const maxTermBytes = 1024;

export function readTerm(bytes: Uint8Array, from: number, to: number): string {
  let term = "";
  for (let at = from; at < to;) {
    const first = bytes[at++]!;
    let unit = first;
    if (first >= 0xe0) unit = ((first & 0x0f) << 12) | ((bytes[at++]! & 0x3f) << 6) | (bytes[at++]! & 0x3f);
    else if (first >= 0xc0) unit = ((first & 0x1f) << 6) | (bytes[at++]! & 0x3f);
    term += String.fromCharCode(unit);
  }
  return term;
}

export function compareBytes(
  left: Uint8Array,
  leftLength: number,
  right: Uint8Array,
  rightFrom: number,
  rightTo: number,
): number {
  const rightLength = rightTo - rightFrom;
  const shorter = leftLength < rightLength ? leftLength : rightLength;
  for (let at = 0; at < shorter; at += 1) {
    const difference = left[at]! - right[rightFrom + at]!;
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}

/** A copy with room for more elements. */
export function grown<T extends Int32Array | Uint32Array | Uint16Array | Uint8Array>(from: T, length: number): T {
  const next = new (from.constructor as new (length: number) => T)(length);
  next.set(from);
  return next;
}
