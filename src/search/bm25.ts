/** BM25, for the index and for gathering. Each has its own weights. */

/** Inverse document frequency of a term that `holding` of `all` passages contain: the rarer, the higher. */
export function inverseFrequency(all: number, holding: number): number {
  return Math.log(1 + (all - holding + 0.5) / (holding + 0.5));
}

/** How much the length of a passage reduces the score of its terms. */
export function lengthNorm(
  { k1, b }: { readonly k1: number; readonly b: number },
  length: number,
  mean: number,
): number {
  return k1 * (1 - b + (b * length) / mean);
}

/** Score of a term that occurs so many times in a passage. `norm` is its `lengthNorm`, or `k1` if length does not matter. */
export function bm25(weight: number, times: number, norm: number, k1: number): number {
  return (weight * times * (k1 + 1)) / (times + norm);
}
