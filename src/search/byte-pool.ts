/** Memory for many small copies that are all needed until the same moment: as arrays of their own, they would be garbage that V8 collects late. */

const sliceBytes = 1024 ** 2;
/** Slices that `clear` keeps to use them again. */
const maxKeptSlices = 2;

export function createBytePool() {
  const slices: Uint8Array[] = [];
  let current = 0;
  let used = 0;

  return {
    /** A copy that is valid until `clear`. */
    copy(bytes: Uint8Array, from: number, to: number): Uint8Array {
      const length = to - from;
      if (length > sliceBytes) return bytes.slice(from, to);
      if (used + length > sliceBytes) {
        current += 1;
        used = 0;
      }
      const slice = (slices[current] ??= new Uint8Array(sliceBytes));
      const copied = slice.subarray(used, used + length);
      copied.set(bytes.subarray(from, to));
      used += length;
      return copied;
    },
    clear(): void {
      slices.length = Math.min(slices.length, maxKeptSlices);
      current = 0;
      used = 0;
    },
  };
}
