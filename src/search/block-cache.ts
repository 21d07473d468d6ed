/** Keeps the blocks that were read last in memory of a fixed size: as arrays of their own, they would be garbage that V8 collects late. */

export type BlockCache = ReturnType<typeof createBlockCache>;

const sliceBytes = 1024 ** 2;

export function createBlockCache(maxBytes: number) {
  /** Filled one after another. When all are full, the oldest is emptied as a whole and filled again. */
  const slices: { readonly bytes: Uint8Array; readonly ids: number[] }[] = [];
  const blocks = new Map<number, Uint8Array>();
  let current = -1;
  let used = sliceBytes;

  function nextSlice(): void {
    current = (current + 1) % Math.max(1, Math.floor(maxBytes / sliceBytes));
    used = 0;
    if (current === slices.length) slices.push({ bytes: new Uint8Array(sliceBytes), ids: [] });
    for (const id of slices[current]!.ids) blocks.delete(id);
    slices[current]!.ids.length = 0;
  }

  return {
    /** A block is valid until the next `add`. */
    get: (id: number): Uint8Array | undefined => blocks.get(id),
    add(id: number, block: Uint8Array): void {
      if (block.length > sliceBytes) return;
      if (used + block.length > sliceBytes) nextSlice();
      const { bytes, ids } = slices[current]!;
      bytes.set(block, used);
      blocks.set(id, bytes.subarray(used, used + block.length));
      ids.push(id);
      used += block.length;
    },
    clear(): void {
      blocks.clear();
      slices.length = 0;
      current = -1;
      used = sliceBytes;
    },
  };
}
