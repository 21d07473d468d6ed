/** Scores the passages of each candidate for the task. */
import { bm25, inverseFrequency, lengthNorm } from "../search/bm25.ts";
import type { ChangedLines } from "./changed-lines.ts";
import type { Task } from "./read-task.ts";
import type { CountedPassage, Text } from "./texts.ts";
import { gatherWeights } from "./weights.ts";

/** A text that was read, and its metadata. */
interface Rankable {
  readonly text: Text;
  /** Search score, from 0 to 1. */
  readonly found: number;
  /** Share of the score of the candidate that it is related to. */
  readonly inherited: number;
  /** How much similar past commits speak for it, from 0 to 1. */
  readonly history: number;
  /** Lines that similar commits left behind, and their weights. */
  readonly changed?: ChangedLines;
  /** Priority × recency × whether it was named. */
  readonly factor: number;
}

export interface Ranked {
  /** Score of the whole text. */
  readonly score: number;
  /** In the order of the text. */
  readonly passages: readonly RankedPassage[];
}

export interface RankedPassage {
  readonly counted: CountedPassage;
  readonly score: number;
  /** Terms of the task in it, the most important first. */
  readonly terms: readonly string[];
}

/** One result for each text, in the given order. */
export function rank(read: readonly Rankable[], task: Task): Ranked[] {
  const passages = read.flatMap(({ text }) => text.counted);
  const rarity = rarities(passages, task);
  const mean = Math.max(1, passages.reduce((sum, { length }) => sum + length, 0) / Math.max(1, passages.length));
  const places = placesOf(read, task);
  const most = [...rarity.values()].reduce((sum, one) => sum + one, 0) || 1;
  return read.map(({ text, found, inherited, history, changed, factor }) => {
    const best = new Map<string, number>();
    const own = text.counted.map((counted) => {
      const norm = lengthNorm(gatherWeights, counted.length, mean);
      const worths = Array.from(counted.times, ([term, times]) => {
        const worth = bm25(rarity.get(term)!, times, norm, gatherWeights.k1) / most;
        best.set(term, Math.max(best.get(term) ?? 0, worth));
        return { term, worth };
      }).sort((left, right) => right.worth - left.worth || (left.term < right.term ? -1 : 1));
      let score = worths.reduce((sum, { worth }) => sum + worth, 0);
      for (const term of counted.headingTerms)
        score +=
          (rarity.get(term)! * (task.terms.get(term)!.isName ? gatherWeights.definition : gatherWeights.heading)) /
          most;
      return { counted, score, terms: worths.map(({ term }) => term) };
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
        gatherWeights.history * history +
        inherited) *
      factor;
    // A passage is weighed against the best of its text, and the text against other texts. If only the name or a relation
    // speaks for a text, its beginning counts most.
    const speaksAt = (at: number): number => (inherited > 0 || history > 0 || path > 0 || place > 0 ? 0.7 ** at : 0);
    const touched = changed ? placesOfChanges(text, changed) : [];
    const share = (counted: number, at: number): number =>
      (top > 0 ? counted / top : speaksAt(at)) + gatherWeights.changed * (touched[at] ?? 0);
    return { score, passages: own.map((one, at) => ({ ...one, score: share(one.score, at) * score ** 2 })) };
  });
}

/** Weights of the words of the location that the task begins with: together one, the rare ones most. */
function placesOf(read: readonly Rankable[], task: Task): ReadonlyMap<string, number> {
  const terms = [...task.terms.values()].filter(({ isPlace }) => isPlace);
  const rarity = terms.map(({ term, weight }) => {
    const some = read.filter(({ text }) => text.pathTerms.has(term)).length;
    return some === 0 ? 0 : weight * inverseFrequency(read.length, some);
  });
  const all = rarity.reduce((sum, one) => sum + one, 0) || 1;
  return new Map(terms.map(({ term }, at) => [term, rarity[at]! / all]));
}

/** For each passage, how much of what similar commits left behind is in it: 1 for the most. */
function placesOfChanges({ text, counted }: Text, changed: ChangedLines): readonly number[] {
  const times = new Map<string, number>();
  for (const line of trimmedLines(text)) times.set(line, (times.get(line) ?? 0) + 1);
  const weights = counted.map(({ from, to }) =>
    trimmedLines(text.slice(from, to)).reduce(
      (sum, line) => sum + (changed.get(line) ?? 0) / (times.get(line) ?? 1),
      0,
    ),
  );
  const most = Math.max(...weights) || 1;
  return weights.map((weight) => weight / most);
}

function trimmedLines(text: string): readonly string[] {
  return text.split("\n").map((line) => line.trim());
}

/** Weight of each term by rarity: a term that occurs nearly everywhere counts nothing. */
function rarities(passages: readonly CountedPassage[], task: Task): ReadonlyMap<string, number> {
  const holding = new Map<string, number>();
  for (const { times } of passages) for (const term of times.keys()) holding.set(term, (holding.get(term) ?? 0) + 1);
  const rarity = new Map<string, number>();
  for (const { term, weight } of task.terms.values()) {
    const some = holding.get(term) ?? 0;
    rarity.set(term, weight * inverseFrequency(passages.length, some) ** gatherWeights.rarity);
  }
  return rarity;
}
