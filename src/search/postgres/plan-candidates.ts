/** Chooses sets of passages that contain the best hits of a query, without reading long lists of passages. */
import { inNameOrHeading, topLevel } from "./elements.ts";
import type { QueryGroups, TermGroup, WordGroups } from "./term-groups.ts";

/** Passages with all these words. Of each word, one of its ways must occur; of a way, all its groups; of a group, any of its elements. */
export interface CandidateSet {
  readonly words: readonly (readonly (readonly (readonly number[])[])[])[];
  /** True if occurrences of low levels were left out. */
  readonly isCut: boolean;
  /** True if every passage with all words of the query is in it. */
  readonly isEveryMatch?: boolean;
}

export interface PlanOptions {
  /** Number of passages in the mounts that are searched. */
  readonly passages: number;
  /** Approximate size of a set. */
  readonly target: number;
  /** A set is not made smaller than this, even if it is larger than the target. */
  readonly least: number;
  /** Maximum number of occurrences that a set reads from the index of elements. */
  readonly maxReads?: number;
}

const usualReads = 150_000;
/** The rarest terms are read completely, up to this many occurrences in all. */
const maxRare = 1500;
/** Maximum number of terms that begin combinations. */
const maxHeaviest = 6;

/** Passages with any term of the query: complete, so every hit is as in an index that reads everything. Undefined if there are more. */
export function planAll({ all }: QueryGroups, most: number): CandidateSet | undefined {
  const total = all.reduce((sum, one) => sum + one.count(), 0);
  if (total > most) return undefined;
  return { words: [[[[...new Set(all.flatMap((one) => one.elements()))]]]], isCut: false, isEveryMatch: true };
}

/** Passages with all words, which are the only ones of the highest tiers. */
export function planMatches({ words }: QueryGroups, options: PlanOptions): CandidateSet | undefined {
  return words && conjunction(words, options);
}

/** Passages with all words in headings, or in the title and the path: the query may be their name. */
export function planNames({ words }: QueryGroups, options: PlanOptions): CandidateSet | undefined {
  if (!words) return undefined;
  const isSmall = expected(words, () => 0, options.passages, inNameOrHeading) > 0;
  return isSmall ? conjunction(words, options, inNameOrHeading) : undefined;
}

/** Passages with some of the words: the rarest, the strongest occurrences, and combinations of words that weigh most. */
export function planSimilar({ all }: QueryGroups, options: PlanOptions): CandidateSet[] {
  const sets: CandidateSet[] = [];
  const rare = new Set<TermGroup>();
  let total = 0;
  for (const one of [...all].sort((left, right) => left.count() - right.count())) {
    total += one.count();
    if (total > maxRare) break;
    rare.add(one);
  }
  if (rare.size > 0) sets.push({ words: [[[[...rare].flatMap((one) => one.elements())]]], isCut: false });
  // Every passage with a rare word is already there.
  const weighty = all
    .filter((one) => one.weight > 0 && !rare.has(one))
    .sort((left, right) => right.weight - left.weight);
  const most = weighty[0]?.weight ?? 0;
  const heaviest = weighty.filter(({ weight }) => weight > most / 4).slice(0, maxHeaviest);
  for (const heavy of heaviest)
    sets.push(conjunction([single(heavy)], { ...options, target: options.target / heaviest.length }));
  // Each of them with others that weigh less, until few passages have all of them.
  const seen = new Set<string>();
  heaviest.forEach((heavy, first) => {
    for (const second of weighty.slice(first + 1, first + 3)) {
      const chosen = [heavy, second];
      for (const next of weighty.slice(first + 1)) {
        if (expected(chosen.map(single), () => 0, options.passages) <= options.target / 4) break;
        if (!chosen.includes(next)) chosen.push(next);
      }
      const key = chosen
        .map((one) => all.indexOf(one))
        .sort((left, right) => left - right)
        .join(" ");
      if (seen.has(key)) continue;
      seen.add(key);
      sets.push(conjunction(chosen.map(single), { ...options, target: options.target / 4 }));
    }
  });
  return sets;
}

const single = (one: TermGroup): WordGroups => [[one]];

/** Leaves out low levels of the most frequent terms until the set is small enough. */
function conjunction(
  words: readonly WordGroups[],
  { passages, target, least, maxReads = usualReads }: PlanOptions,
  fields = 0xff,
): CandidateSet {
  const levels = new Map<TermGroup, number>();
  const levelOf = (one: TermGroup): number => levels.get(one) ?? 0;
  const groups = [...new Set(words.flat(2))];
  const reads = (): number => groups.reduce((sum, one) => sum + one.count(levelOf(one), fields), 0);
  while (expected(words, levelOf, passages, fields) > target || reads() > maxReads) {
    const raisable = groups.filter((one) => {
      const level = levelOf(one) + 1;
      if (level > topLevel || one.count(level, fields) === 0) return false;
      return expected(words, (other) => (other === one ? level : levelOf(other)), passages, fields) >= least;
    });
    if (raisable.length === 0) break;
    const largest = raisable.reduce((left, right) =>
      right.count(levelOf(right), fields) > left.count(levelOf(left), fields) ? right : left,
    );
    levels.set(largest, levelOf(largest) + 1);
  }
  const isCut = groups.some((one) => one.count(levelOf(one), fields) < one.count(0, fields));
  return {
    words: words.map((ways) => ways.map((way) => way.map((one) => one.elements(levelOf(one), fields)))),
    isCut,
    isEveryMatch: !isCut && fields === 0xff,
  };
}

/** Approximate number of passages with all words. Terms of one word mostly occur together. */
function expected(
  words: readonly WordGroups[],
  level: (group: TermGroup) => number,
  passages: number,
  fields = 0xff,
): number {
  const share = (one: TermGroup): number => one.count(level(one), fields) / Math.max(1, passages);
  return words.reduce((rest, ways) => {
    const inWays = ways.map((way) => {
      const shares = way.map(share).sort((left, right) => left - right);
      return shares.reduce((all, one, at) => all * (at === 0 ? one : Math.sqrt(one)), 1);
    });
    return (
      rest *
      Math.min(
        1,
        inWays.reduce((sum, one) => sum + one, 0),
      )
    );
  }, passages);
}
