/** Collects bytes from many small pieces without overhead per piece. */

export interface GrowingBuffer {
  readonly length: number;
  append(piece: Uint8Array): void;
  /** Returns all bytes and empties the buffer. */
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
