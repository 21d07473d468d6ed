/** Numbers that are the same for the same seed. */

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  between(least: number, below: number): number;
  pick<T>(items: readonly T[]): T;
  /** Has a sequence of its own, so that the numbers that one part uses do not change those of another. */
  branch(name: string): Random;
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, below) => least + next() * (below - least),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    branch(name) {
      let hash = seed | 0;
      for (let at = 0; at < name.length; at += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
      return createRandom(hash);
    },
  };
}
