/** Reranks the best results with what BM25 cannot know without reading the text. */
import type { FoundTerm } from "./lookup.ts";
import type { TermMatch } from "./matches.ts";
import { searchWeights } from "./weights.ts";

/** Maximum deviation from the distance in the query that still counts. */
const maxGap = 3;

/** Returns the bonus for terms that follow one another as in the query. `worth` as for the score itself. */
export function rerank(
  found: readonly FoundTerm[],
  matches: readonly TermMatch[],
  worth: (found: FoundTerm) => number,
): number {
  const places = found.map((): number[] => []);
  for (const { index, token } of matches) places[index]!.push(token.position);
  let bonus = 0;
  found.forEach((one, at) => {
    if (places[at]!.length === 0) return;
    for (let next = at + 1; next < found.length && next <= at + maxGap; next += 1) {
      const step = found[next]!.wanted.position - one.wanted.position;
      if (step < 1 || step > 2 || places[next]!.length === 0) continue;
      const gap = leastGap(places[at]!, places[next]!, step);
      if (gap <= maxGap) bonus += Math.min(worth(one), worth(found[next]!)) / ((1 + gap) * step);
    }
  });
  return bonus * searchWeights.order;
}

/** The smallest deviation of two terms from their distance in the query. */
function leastGap(left: readonly number[], right: readonly number[], step: number): number {
  let least = Infinity;
  let at = 0;
  for (const position of left) {
    while (at < right.length && right[at]! < position) at += 1;
    for (let near = Math.max(0, at - 1); near <= at + 1 && near < right.length; near += 1)
      least = Math.min(least, Math.abs(right[near]! - position - step));
    if (least === 0) return 0;
  }
  return least;
}
