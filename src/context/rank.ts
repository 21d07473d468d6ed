/** Scores the passages of each candidate for the task. */
import { bm25, inverseFrequency, lengthNorm } from "../search/bm25.ts";
import type { ChangedLines } from "./changed-lines.ts";
import type { ExactMatch } from "./exact-matches.ts";
import type { FileKind } from "./file-kind.ts";
import { parseName } from "./related-names.ts";
import type { Task } from "./read-task.ts";
import { spread } from "./spread.ts";
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
  /** For a test, the index of the text that it tests, unless the task is about tests. */
  readonly implementation: number | undefined;
  /** In the order of the text. */
  readonly passages: readonly RankedPassage[];
}

export interface RankedPassage {
  readonly counted: CountedPassage;
  /** How probably it is needed, relative to all other passages. */
  readonly chance: number;
  /** The same, relative to what it costs. */
  readonly score: number;
  /** Terms of the task in it, the most important first. */
  readonly terms: readonly string[];
  /** True if the task quotes it exactly: then it comes first. */
  readonly isExact: boolean;
  /** Why it is included, besides its terms: sentences without a subject. */
  readonly reasons: readonly string[];
  /** True if it holds much of what commits, or the changes of the checkout, left behind in its text. */
  readonly isTouched: boolean;
}

const maxExact = 4;

/** One result for each text, in the given order. */
export function rank(read: readonly Rankable[], task: Task): Ranked[] {
  const passages = read.flatMap(({ text }) => text.counted);
  const rarity = rarities(passages, task);
  const mean = Math.max(1, passages.reduce((sum, { length }) => sum + length, 0) / Math.max(1, passages.length));
  const places = placesOf(read, task);
  const exact = closest(read, task);
  const most = [...rarity.values()].reduce((sum, one) => sum + one, 0) || 1;
  const texts = read.map(({ text, found, inherited, history, changed, factor }) => {
    const best = new Map<string, number>();
    const quoted = exact.filter((match) => text.exact.includes(match));
    const own = text.counted.map((counted, at) => {
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
      const here = quoted.filter(({ passage }) => passage === at);
      return {
        counted,
        score,
        terms: worths.map(({ term }) => term),
        isExact: here.length > 0,
        reasons: [...new Set(here.map(({ why }) => why))],
        isNamedLine: here.some(({ isLine }) => isLine),
      };
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
      factor *
      (quoted.length > 0 ? gatherWeights.exact : factorOf(text.kind, task));
    const touched = changed ? placesOfChanges(text, changed) : [];
    return { text, score, own, touched };
  });
  // The implementation comes before its test.
  const tested = task.isAboutTests ? [] : implementationsOf(texts);
  const scores = texts.map(({ score }, at) => {
    const implementation = tested[at];
    return implementation === undefined ? score : Math.min(score, texts[implementation]!.score * gatherWeights.tested);
  });
  const highest = scores.reduce((top, one) => Math.max(top, one), 0) || 1;
  return texts.map(({ text, own, touched }, index) => {
    const score = scores[index]!;
    const shares = spread(
      own.map((one, at) => ({ score: one.score, length: one.counted.length, changed: touched[at] ?? 0 })),
      text.kind,
      score > 0,
    );
    return {
      score,
      implementation: tested[index],
      passages: own.map(({ isNamedLine, ...one }, at) => {
        const chance = shares[at]! * (score / highest) ** gatherWeights.focus;
        const perCost = chance / (one.counted.length + gatherWeights.cost) ** gatherWeights.thrift;
        // No other passage has more than 1.
        const worth = perCost + (isNamedLine ? 1 : 0);
        return { ...one, chance, score: worth, isTouched: (touched[at] ?? 0) >= 0.5 };
      }),
    };
  });
}

/**
 * The exact matches that count. A quotation leads to few places: a phrase in many passages does not count, nor do all but the closest
 * files of a name, nor the test of an implementation that matches as well.
 */
function closest(read: readonly Rankable[], { isAboutTests }: Task): readonly ExactMatch[] {
  const all = Map.groupBy(
    read.flatMap(({ text }) => text.exact.map((match) => ({ match, isTest: text.kind === "test" }))),
    ({ match }) => match.key,
  );
  return [...all.values()].flatMap((some) => {
    const others = some.filter(({ match, isTest }) => match.isLine || !isTest || isAboutTests);
    const matches = (others.length > 0 ? others : some).map(({ match }) => match);
    const most = Math.max(...matches.map(({ closeness }) => closeness));
    const best = matches.filter(({ closeness }) => closeness === most);
    return best.length > maxExact ? [] : best;
  });
}

/** A changelog mentions everything; a test mentions what it tests more often than its implementation does. */
function factorOf(kind: FileKind, { isAboutTests }: Task): number {
  if (kind === "changelog") return gatherWeights.changelog;
  return kind === "test" && !isAboutTests ? gatherWeights.test : 1;
}

interface Scored {
  readonly text: Text;
  readonly score: number;
}

/** Equal for a test and what it tests. */
function keyOf({ name }: Text): string {
  const { root, ending } = parseName(name);
  return `${root}.${ending}`;
}

/** For each test, the index of the text that it tests: the best of this name. */
function implementationsOf(texts: readonly Scored[]): readonly (number | undefined)[] {
  const tested = new Map<string, number>();
  texts.forEach(({ text, score }, at) => {
    const known = tested.get(keyOf(text));
    if (text.kind === "other" && (known === undefined || texts[known]!.score < score)) tested.set(keyOf(text), at);
  });
  return texts.map(({ text }) => (text.kind === "test" ? tested.get(keyOf(text)) : undefined));
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
