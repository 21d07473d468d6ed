/** Reranks the best results by what the index does not store: how near the chunks of a query stand to one another in a passage. */
import { isFunctionWord } from "./function-words.ts";
import type { FoundTerm } from "./lookup.ts";
import type { TermMatch } from "./matches.ts";
import type { QueryTerm } from "./query-terms.ts";
import { searchWeights } from "./weights.ts";

/** A content word, or a run of kanji or of katakana. */
interface Chunk {
  readonly text: string;
  /** Found terms that follow one another, by index. */
  readonly terms: readonly number[];
  readonly weight: number;
}

/** Chunks that are compared with each other are at most this many steps apart in the query. */
const maxSteps = 3;
/** In characters between the starts of two chunks: the bonus is halved at the first distance, and ends at the second. */
const halfDistance = 20;
const maxDistance = 80;
/** Stand for what a question asks for ("what", "who", "which year"), not for its subject. */
const questionRun = /^[何誰年名人]+$/u;

/**
 * Returns a function from the matches in a passage, in text order, to its bonus; undefined if the query has fewer than two chunks,
 * which gives no bonus. `worth` as for the score itself.
 */
export function createReranker(
  wanted: readonly QueryTerm[],
  found: readonly FoundTerm[],
  worth: (found: FoundTerm) => number,
): ((matches: readonly TermMatch[]) => number) | undefined {
  const chunks = chunksOf(wanted, found, worth);
  if (chunks.length < 2) return undefined;
  const firsts = new Set(chunks.map(({ terms }) => terms[0]!));
  return (matches) => {
    if (matches.length < 2) return 0;
    /** By position in the passage: the term there, by index plus one. */
    const termAt = new Int32Array(matches.at(-1)!.token.position + 1);
    const tokensOf = new Map<number, TermMatch["token"][]>();
    for (const { index, token } of matches) {
      if (token.kind !== "whole") termAt[token.position] = index + 1;
      if (!firsts.has(index)) continue;
      const tokens = tokensOf.get(index);
      if (tokens) tokens.push(token);
      else tokensOf.set(index, [token]);
    }
    const starts = chunks.map(({ terms }) =>
      (tokensOf.get(terms[0]!) ?? [])
        .filter(({ position }) => terms.every((term, at) => at === 0 || termAt[position + at] === term + 1))
        .map(({ from }) => from),
    );
    let bonus = 0;
    chunks.forEach((chunk, at) => {
      if (starts[at]!.length === 0) return;
      for (let step = 1; step <= maxSteps && at + step < chunks.length; step += 1) {
        const other = chunks[at + step]!;
        if (other.text === chunk.text) continue;
        const distance = leastDistance(starts[at]!, starts[at + step]!);
        if (distance < maxDistance) bonus += (chunk.weight + other.weight) / step / (1 + distance / halfDistance);
      }
    });
    return bonus * searchWeights.proximity;
  };
}

/** In the order of the query, without function words and without chunks that the index does not contain. */
function chunksOf(
  wanted: readonly QueryTerm[],
  found: readonly FoundTerm[],
  worth: (found: FoundTerm) => number,
): Chunk[] {
  const indexes = new Map<string, number>();
  found.forEach(({ wanted: { term }, word }, index) => {
    if (word === undefined && !indexes.has(term)) indexes.set(term, index);
  });
  return groupsOf(wanted).flatMap((group) => {
    const terms = group.flatMap(({ term }) => indexes.get(term) ?? []);
    const text = group.map(({ surface }, at) => (at === 0 ? surface : lastOf(surface))).join("");
    if (terms.length < group.length || questionRun.test(text)) return [];
    return { text, terms, weight: terms.reduce((sum, index) => sum + worth(found[index]!), 0) };
  });
}

/** Joins the pairs of a run; leaves out pairs with hiragana or of two scripts, which are mostly endings and word boundaries. */
function groupsOf(wanted: readonly QueryTerm[]): QueryTerm[][] {
  const groups: QueryTerm[][] = [];
  let before: QueryTerm | undefined;
  wanted.forEach((one, at) => {
    const { kind, position, surface } = one;
    if (kind === "pair") {
      if (!isOneScript(surface)) return;
      if (before?.position === position - 1 && isOneScript(lastOf(before.surface) + surface)) groups.at(-1)!.push(one);
      else groups.push([one]);
      before = one;
    } else {
      // The parts of an identifier stand for the whole.
      const isDivided = kind === "whole" && wanted[at + 1]?.position === position;
      if (!isDivided && !isFunctionWord(surface) && !/^\p{Script=Hiragana}$/u.test(surface)) groups.push([one]);
      before = undefined;
    }
  });
  return groups;
}

function isOneScript(pair: string): boolean {
  return /^(?:[\p{Script=Katakana}ー]+|[^\p{Script=Katakana}\p{Script=Hiragana}ー]+)$/u.test(pair);
}

function lastOf(surface: string): string {
  return [...surface].at(-1)!;
}

/** The smallest distance between a number of one list and a number of the other. Both are sorted. */
function leastDistance(left: readonly number[], right: readonly number[]): number {
  let least = Infinity;
  for (let at = 0, other = 0; at < left.length && other < right.length;) {
    const distance = right[other]! - left[at]!;
    least = Math.min(least, Math.abs(distance));
    if (distance < 0) other += 1;
    else at += 1;
  }
  return least;
}
