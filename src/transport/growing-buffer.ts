/** Bytes that arrive in pieces, however small, held as one: a million pieces cost no more than their bytes. */

export interface GrowingBuffer {
  readonly length: number;
  append(piece: Uint8Array): void;
  /** All bytes so far; the buffer is empty afterwards. */
  take(): Buffer;
}

const firstBytes = 4096;

export function createGrowingBuffer(): GrowingBuffer {
  let bytes = Buffer.alloc(0);
  let length = 0;

  return {
    get length() {
      return length;
    },
    append(piece) {
      const needed = length + piece.length;
      if (needed > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, needed, 2 * bytes.length));
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      bytes.set(piece, length);
      length = needed;
    },
    take() {
      const taken = bytes.subarray(0, length);
      bytes = Buffer.alloc(0);
      length = 0;
      return taken;
    },
  };
}
