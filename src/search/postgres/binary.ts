/** Arrays and packed numbers as PostgreSQL reads and sends them: texts of arrays take longer to write and to parse. */

const int4 = 23;
const bytea = 17;

/** A parameter for `$1::integer[]`. */
export function intArray(values: ArrayLike<number>): Uint8Array {
  const array = header(int4, values.length, values.length * 8);
  for (let at = 0, to = headerBytes; at < values.length; at += 1, to += 8) {
    array.writeInt32BE(4, to);
    array.writeInt32BE(values[at]!, to + 4);
  }
  return array;
}

/** A parameter for `$1::bytea[]`. */
export function byteaArray(values: readonly Uint8Array[]): Uint8Array {
  const array = header(
    bytea,
    values.length,
    values.reduce((sum, { length }) => sum + 4 + length, 0),
  );
  let to = headerBytes;
  for (const value of values) {
    array.writeInt32BE(value.length, to);
    array.set(value, to + 4);
    to += 4 + value.length;
  }
  return array;
}

const headerBytes = 20;

function header(type: number, count: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + bytes);
  // Dimensions, whether there are nulls, type, length and lower bound. An empty array has no dimension.
  array.writeInt32BE(count === 0 ? 0 : 1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
  return count === 0 ? array.subarray(0, 12) : array;
}

/** The integers that `int4send` has written one after another. */
export function readInts(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int32Array.from({ length: bytes.byteLength >> 2 }, (_, at) => view.getInt32(at * 4));
}

/** An expression for a long bytea: its usual form, two digits for each byte, takes longer to read. */
export function base64(bytes: string): string {
  return `encode(${bytes}, 'base64')`;
}

export function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
