/** Arranges the picked passages, joins adjacent ones, and ensures that the pack fits the budget. */
import type { CountTokens } from "./count-tokens.ts";
import type { PackFrame } from "./frame.ts";
import type { PackItem } from "./pack.ts";
import { maxGap, pick, type Pick, type Picked } from "./pick.ts";
import type { RankedPassage } from "./rank.ts";
import { itemOf, type PassageSource } from "./passage-source.ts";

export interface PassageChoice {
  readonly source: PassageSource;
  readonly item: PackItem;
  readonly passages: readonly RankedPassage[];
  /** Other URIs with the same text. */
  readonly also: readonly string[];
}

interface Fitted {
  /** In the order of the pack. */
  readonly chosen: readonly PassageChoice[];
  readonly text: string;
  readonly tokens: number;
  /** Texts of which nothing fits, and whose content no other text covers. */
  readonly noRoom: readonly PassageSource[];
  /** Number of texts of which something is not relevant enough. */
  readonly belowFloor: number;
  /** Texts of which only a part is included. */
  readonly cut: readonly PassageSource[];
}

/** Texts must be given best first. */
export function fitPack(
  sources: readonly PassageSource[],
  budget: number,
  frame: PackFrame,
  counter: CountTokens,
): Fitted {
  const { picks: all, also, merged, cut: short, irrelevant, belowFloor } = pick(sources, budget, frame, counter);
  const picks = [...all];
  const cut = new Set(short);
  // The cost of the whole differs from the sum of its pieces: the whole decides, and the last pick is dropped first.
  for (;;) {
    const chosen = arrange(picks, also);
    const text = frame.render(chosen.map(({ item }) => item));
    const tokens = text === "" ? 0 : counter.count(text);
    if (tokens <= budget) {
      const held = new Set(chosen.map(({ source }) => source));
      const noRoom = sources.filter((source) => [held, merged, irrelevant].every((some) => !some.has(source)));
      return {
        chosen,
        text,
        tokens,
        noRoom,
        belowFloor,
        cut: sources.filter((source) => held.has(source) && cut.has(source)),
      };
    }
    for (let over = tokens - budget; over > 0 && picks.length > 0;) {
      const { source, cost } = picks.pop()!;
      cut.add(source);
      over -= Math.max(1, cost);
    }
  }
}

/** Texts in the order of their best passage, the passages of each in text order. */
function arrange(picks: readonly Pick[], also: Picked["also"]): PassageChoice[] {
  const bySource = new Map<PassageSource, RankedPassage[]>();
  for (const { source, passage } of picks) bySource.set(source, [...(bySource.get(source) ?? []), passage]);
  return [...bySource].flatMap(([source, passages]) =>
    runsOf(passages.toSorted((left, right) => left.counted.from - right.counted.from)).map((run, index) => ({
      source,
      item: itemOf(source, run),
      passages: run,
      also: index === 0 ? [...(also.get(source.item.uri) ?? [])] : [],
    })),
  );
}

/** Joins passages with only a few lines between them. */
function runsOf(passages: readonly RankedPassage[]): RankedPassage[][] {
  const runs: RankedPassage[][] = [];
  for (const passage of passages) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    // A signature may have become part of a passage that was taken later.
    if (before && passage.counted.to <= before.counted.to) continue;
    const isNear = before && passage.counted.lines[0] - before.counted.lines[1] <= maxGap + 1;
    if (isNear && !passage.counted.isPartOfLine && !before.counted.isPartOfLine) run!.push(passage);
    else runs.push([passage]);
  }
  return runs;
}
