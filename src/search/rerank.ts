/** A second look at the best: what BM25 cannot know without reading the text. */
import type { FoundTerm } from "./lookup.ts";
import type { TermMatch } from "./matches.ts";
import { searchWeights } from "./weights.ts";

/** How far terms may be from standing as in the question, and still count. */
const maxGap = 3;

/** What is added to a score because terms follow one another as in the question. `worth` as for the score itself. */
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

/** How far two terms are from standing as they do in the question, where they come nearest to it. */
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
