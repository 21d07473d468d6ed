/** The known words that were probably intended. */

/** Undefined if nothing is close: a wrong suggestion is worse than none. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return nearestOf(word, known, 1)[0];
}

/** At most `most`, the closest first, and none that is much less close; of equally close ones, the first known. */
export function nearestOf(word: string, known: readonly string[], most: number): readonly string[] {
  if (word.length > 64) return [];
  const farthest = Math.max(1, Math.floor(word.length / 3));
  const close = known
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(word) && word.length > 1 ? 1 : editDistance(word, candidate),
    }))
    .filter(({ distance }) => distance <= farthest)
    .sort((one, other) => one.distance - other.distance);
  const least = close[0]?.distance ?? 0;
  return close
    .filter(({ distance }) => distance <= least + 1)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** The number of insertions, deletions, replacements and swaps of neighbours between two words. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      next[j] = cost;
    }
    before = row;
    row = next;
  }
  return row[to.length]!;
}
