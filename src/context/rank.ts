/** How much each passage of each candidate says of the task. */
import type { Task } from "./read-task.ts";
import type { CountedPassage, Text } from "./texts.ts";
import { gatherWeights } from "./weights.ts";

/** What was read, and what is known of it beside its words. */
export interface Rankable {
  readonly text: Text;
  /** How well searches found it, from 0 to 1. */
  readonly found: number;
  /** What it has from the one that it belongs to. */
  readonly inherited: number;
  /** Priority × recency × whether it was named. */
  readonly factor: number;
}

export interface Ranked {
  /** What the whole of it says. */
  readonly score: number;
  /** In the order of the text. */
  readonly passages: readonly RankedPassage[];
}

export interface RankedPassage {
  readonly said: CountedPassage;
  readonly score: number;
  /** Terms of the task that stand in it, those first that say most. */
  readonly terms: readonly string[];
}

/** One for each, in the order given. */
export function rank(read: readonly Rankable[], task: Task): Ranked[] {
  const passages = read.flatMap(({ text }) => text.said);
  const rarity = rarities(passages, task);
  const mean = Math.max(1, passages.reduce((sum, { length }) => sum + length, 0) / Math.max(1, passages.length));
  const places = placesOf(read, task);
  const most = [...rarity.values()].reduce((sum, one) => sum + one, 0) || 1;
  return read.map(({ text, found, inherited, factor }) => {
    const best = new Map<string, number>();
    const own = text.said.map((said) => {
      const norm = gatherWeights.k1 * (1 - gatherWeights.b + (gatherWeights.b * said.length) / mean);
      const worths = Array.from(said.times, ([term, times]) => {
        const worth = (rarity.get(term)! * times * (gatherWeights.k1 + 1)) / (times + norm) / most;
        best.set(term, Math.max(best.get(term) ?? 0, worth));
        return { term, worth };
      }).sort((left, right) => right.worth - left.worth || (left.term < right.term ? -1 : 1));
      let score = worths.reduce((sum, { worth }) => sum + worth, 0);
      for (const term of said.headingTerms)
        score +=
          (rarity.get(term)! * (task.terms.get(term)!.isName ? gatherWeights.definition : gatherWeights.heading)) /
          most;
      return { said, score, terms: worths.map(({ term }) => term) };
    });
    const path = [...text.pathTerms].reduce((sum, term) => sum + rarity.get(term)!, 0) / most;
    const whole = [...best.values()].reduce((sum, worth) => sum + worth, 0);
    const top = own.reduce((highest, { score }) => Math.max(highest, score), 0);
    const place = [...text.pathTerms].reduce((sum, term) => sum + (places.get(term) ?? 0), 0);
    const score =
      (top +
        gatherWeights.path * path +
        gatherWeights.place * place +
        gatherWeights.document * whole +
        gatherWeights.found * found +
        inherited) *
      factor;
    // A passage counts by what it says beside the best of its text, and by what the text says beside others. Where it is only the
    // name, or the company, that speaks for a text, its beginning does.
    const speaksAt = (at: number): number => (inherited > 0 || path > 0 || place > 0 ? 0.7 ** at : 0);
    const share = (said: number, at: number): number => (top > 0 ? said / top : speaksAt(at));
    return { score, passages: own.map((one, at) => ({ ...one, score: share(one.score, at) * score ** 2 })) };
  });
}

/** What each word of the place that the task begins with says of a path: together one, the rare ones most. */
function placesOf(read: readonly Rankable[], task: Task): ReadonlyMap<string, number> {
  const terms = [...task.terms.values()].filter(({ isPlace }) => isPlace);
  const rarity = terms.map(({ term, weight }) => {
    const some = read.filter(({ text }) => text.pathTerms.has(term)).length;
    return some === 0 ? 0 : weight * Math.log(1 + (read.length - some + 0.5) / (some + 0.5));
  });
  const all = rarity.reduce((sum, one) => sum + one, 0) || 1;
  return new Map(terms.map(({ term }, at) => [term, rarity[at]! / all]));
}

/** How much it says that a term stands somewhere: what stands nearly everywhere says nothing. */
function rarities(passages: readonly CountedPassage[], task: Task): ReadonlyMap<string, number> {
  const holding = new Map<string, number>();
  for (const { times } of passages) for (const term of times.keys()) holding.set(term, (holding.get(term) ?? 0) + 1);
  const rarity = new Map<string, number>();
  for (const { term, weight } of task.terms.values()) {
    const some = holding.get(term) ?? 0;
    rarity.set(term, weight * Math.log(1 + (passages.length - some + 0.5) / (some + 0.5)) ** gatherWeights.rarity);
  }
  return rarity;
}
