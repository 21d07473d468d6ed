/** Picks passages, best first, until nothing more fits: most from the best texts, the rest as a few lines each of further texts. */
import type { CountTokens } from "./count-tokens.ts";
import { excerptOf, slicesOf } from "./excerpt.ts";
import type { PackFrame } from "./frame.ts";
import type { RankedPassage } from "./rank.ts";
import { itemOf, type PassageSource } from "./passage-source.ts";
import { gatherWeights } from "./weights.ts";

export interface Pick {
  readonly source: PassageSource;
  readonly passage: RankedPassage;
  readonly cost: number;
}

export interface Picked {
  /** The most valuable first. */
  readonly picks: readonly Pick[];
  /** By the URI whose text is included: other URIs with the same text. */
  readonly also: ReadonlyMap<string, ReadonlySet<string>>;
  /** Texts of which a part is covered by another. */
  readonly merged: ReadonlySet<PassageSource>;
  /** Texts of which something did not fit. */
  readonly cut: ReadonlySet<PassageSource>;
  /** Texts of which no passage is relevant enough, and number of texts of which some are not. */
  readonly irrelevant: ReadonlySet<PassageSource>;
  readonly belowFloor: number;
}

/** Lines between two passages that cost less than a second frame. */
export const maxGap = 3;
/** Shorter passages are not compared with earlier ones. */
const minSame = 60;
/** Stops after so many in a row that do not fit. */
const maxMisfits = 40;
/** Maximum length of a token, except for white space. */
const maxTokenLength = 16;

interface Queue {
  readonly source: PassageSource;
  /** Not tried yet, the best first. */
  waiting: readonly RankedPassage[];
  /** Tried, and did not fit. */
  misfits: RankedPassage[];
  taken: number;
  spent: number;
  /** The passages that were taken, without parts of lines. */
  readonly ranges: RankedPassage["counted"][];
}

export function pick(
  sources: readonly PassageSource[],
  budget: number,
  frame: PackFrame,
  { count }: CountTokens,
): Picked {
  const picks: Pick[] = [];
  const also = new Map<string, Set<string>>();
  const merged = new Set<PassageSource>();
  const cut = new Set<PassageSource>();
  const firstUris = new Map<string, string>();
  const queues = sources.map((source): Queue => ({
    source,
    waiting: neededOf(source),
    misfits: [],
    taken: 0,
    spent: 0,
    ranges: [],
  }));
  const irrelevant = new Set(queues.filter(({ waiting }) => waiting.length === 0).map(({ source }) => source));
  const belowFloor = queues.filter(({ source, waiting }) => waiting.length < source.passages.length).length;
  const tests = new Map(
    queues.flatMap((queue) => {
      const { implementation } = queue.source;
      const tested = implementation && queues.find(({ source }) => source.item.uri === implementation);
      return tested ? [[queue, tested] as const] : [];
    }),
  );
  let spent = 0;
  let misfits = 0;

  /** Takes the passage if it is new. False if it does not fit. */
  function offer(queue: Queue, passage: RankedPassage, room: number): boolean {
    const { source } = queue;
    const item = itemOf(source, [passage]);
    const key = item.text.length < minSame ? undefined : item.text.replaceAll(/\s+/gu, " ").trim();
    const same = key === undefined ? undefined : firstUris.get(key);
    if (same !== undefined && same !== source.item.uri) {
      also.set(same, (also.get(same) ?? new Set()).add(source.item.uri));
      merged.add(source);
      return true;
    }
    const isTooLong = item.text.trim().length > room * maxTokenLength;
    const cost = isTooLong
      ? Infinity
      : costOf(queue, passage) + (queue.taken === 0 ? count(frame.header(item.uri)) : 0);
    if (spent + cost > room) {
      misfits += 1;
      queue.misfits.push(passage);
      return false;
    }
    misfits = 0;
    if (key !== undefined) firstUris.set(key, source.item.uri);
    take(queue, passage, cost);
    queue.taken += 1;
    for (const signature of signaturesOf(queue, passage)) {
      const more = costOf(queue, signature);
      if (spent + more <= room) take(queue, signature, more);
    }
    return true;
  }

  /** Tokens of the passage: with a frame, or with the text between it and a passage that it will be joined with. */
  function costOf(queue: Queue, passage: RankedPassage): number {
    const item = itemOf(queue.source, [passage]);
    const gap = gapOf(queue, passage);
    return count(gap === undefined ? frame.item(item) : `${gap}${item.text}\n`);
  }

  function take(queue: Queue, passage: RankedPassage, cost: number): void {
    spent += cost;
    queue.spent += cost;
    if (!passage.counted.isPartOfLine) queue.ranges.push(passage.counted);
    picks.push({ source: queue.source, passage, cost });
  }

  function takeBest(room: number): void {
    for (misfits = 0; misfits < maxMisfits;) {
      let best: Queue | undefined;
      let most = 0;
      for (const queue of queues) {
        const [passage] = queue.waiting;
        const value = passage ? valueOf(queue, passage) : 0;
        if (value > most) {
          most = value;
          best = queue;
        }
      }
      if (!best) return;
      // A test gets no more than its implementation, until that is complete.
      const [next] = best.waiting;
      const isFirst = best.source.isPinned || next!.isExact;
      const tested = isFirst ? undefined : tests.get(best);
      if (tested && tested.waiting.length > 0 && best.spent + next!.counted.length > tested.spent) best = tested;
      const [passage, ...rest] = best.waiting;
      best.waiting = rest;
      if (offer(best, passage!, room) || passage!.score > 0) continue;
      // If no passage of a text matches the task, it is included from its beginning, as far as it fits.
      best.misfits.push(...rest);
      best.waiting = [];
    }
  }

  takeBest(budget * (1 - gatherWeights.breadth));
  for (const queue of queues) {
    const [first, ...rest] = [...queue.misfits.splice(0), ...queue.waiting];
    if (first) queue.waiting = [...(first.score === 0 ? slicesOf(queue.source.text, first) : [first]), ...rest];
  }
  misfits = 0;
  for (const queue of queues) {
    const [first] = queue.waiting;
    if (queue.taken > 0 || !first || first.score === 0 || misfits >= maxMisfits) continue;
    const { text, isTest } = queue.source;
    // The name of a test says more than the lines that match.
    offer(queue, isTest ? slicesOf(text, first)[0]! : excerptOf(text, first), budget);
    // A text that is included in part is not included again.
    if (queue.taken === 0) continue;
    queue.waiting = [];
    cut.add(queue.source);
  }
  takeBest(budget);
  for (const { source, waiting, misfits: left } of queues) if (waiting.length + left.length > 0) cut.add(source);
  return { picks, also, merged, cut, irrelevant, belowFloor };
}

/** The text between a passage and one that is taken already, if they will be joined. */
function gapOf({ source: { text }, ranges }: Queue, { counted }: RankedPassage): string | undefined {
  const { from, to, lines, isPartOfLine } = counted;
  if (isPartOfLine) return undefined;
  const beside = ranges.find(
    (range) => lines[0] - range.lines[1] <= maxGap + 1 && range.lines[0] - lines[1] <= maxGap + 1,
  );
  return beside && (beside.to <= from ? text.slice(beside.to, from) : text.slice(to, beside.from));
}

/** First lines of the definitions around a passage, such as that of its class, which are not taken yet. */
function signaturesOf({ ranges }: Queue, passage: RankedPassage): readonly RankedPassage[] {
  const { counted } = passage;
  const missing = counted.within.filter(
    ({ line }) => !ranges.some(({ lines: [first, last] }) => first <= line && line <= last),
  );
  return missing.map(({ line, from, to }) => ({
    ...passage,
    counted: { ...counted, from, to, lines: [line, line], heading: "", within: [], isPartOfLine: false },
    terms: [],
    isExact: false,
    reasons: ["begins the definition that contains a passage"],
  }));
}

/**
 * The best first; if it is pinned and nothing matches, from its beginning. Without those that are hardly needed: the best passage of
 * a text is worth a look sooner than a further one. Of a changed file, the changed passages are needed.
 */
function neededOf({ passages, isPinned, role }: PassageSource): readonly RankedPassage[] {
  const { floor, firstFloor } = gatherWeights;
  return passages
    .toSorted((left, right) => Number(right.isExact) - Number(left.isExact) || right.score - left.score)
    .filter(
      (one, at) =>
        isPinned ||
        one.isExact ||
        (role === "changed" && one.isTouched) ||
        one.chance >= (at === 0 ? firstFloor : floor),
    );
}

/** The summary of changes comes first, then pinned texts, what the task quotes exactly, and all others. */
function valueOf({ source: { isPinned, role }, taken }: Queue, passage: RankedPassage): number {
  const first = role === "summary" ? 1e7 : isPinned ? 1e6 - taken : 0;
  return passage.score * gatherWeights.again ** taken + (passage.isExact ? 1e3 : 0) + first;
}
