/** Arranges the picked passages, joins adjacent ones, and ensures that the pack fits the budget. */
import type { CountTokens } from "./count-tokens.ts";
import type { PackFrame } from "./frame.ts";
import type { PackItem } from "./pack.ts";
import { pick, type Pick, type Picked } from "./pick.ts";
import type { RankedPassage } from "./rank.ts";
import { isPiece, itemOf, type PassageSource } from "./passage-source.ts";

export interface PassageChoice {
  readonly shelf: PassageSource;
  readonly item: PackItem;
  readonly passages: readonly RankedPassage[];
  /** Other URIs with the same text. */
  readonly also: readonly string[];
}

export interface Fitted {
  /** In the order of the pack. */
  readonly chosen: readonly PassageChoice[];
  readonly text: string;
  readonly tokens: number;
  /** Texts of which nothing fits, and whose content no other text covers. */
  readonly noRoom: readonly PassageSource[];
  /** Texts of which only a part is included. */
  readonly cut: readonly PassageSource[];
}

/** Lines between two passages that cost less than a second frame. */
const maxGap = 3;

/** Texts must be given best first. */
export function fitPack(
  shelves: readonly PassageSource[],
  budget: number,
  frame: PackFrame,
  counter: CountTokens,
): Fitted {
  const { picks: all, also, merged, cut: short } = pick(shelves, budget, frame, counter);
  const picks = [...all];
  const cut = new Set(short);
  // The cost of the whole differs from the sum of its pieces: the whole decides, and the last pick is dropped first.
  for (;;) {
    const chosen = arrange(picks, also);
    const text = frame.render(chosen.map(({ item }) => item));
    const tokens = text === "" ? 0 : counter.count(text);
    if (tokens <= budget) {
      const held = new Set(chosen.map(({ shelf }) => shelf));
      const noRoom = shelves.filter((shelf) => !held.has(shelf) && !merged.has(shelf));
      return { chosen, text, tokens, noRoom, cut: shelves.filter((shelf) => held.has(shelf) && cut.has(shelf)) };
    }
    for (let over = tokens - budget; over > 0 && picks.length > 0;) {
      const { shelf, cost } = picks.pop()!;
      cut.add(shelf);
      over -= Math.max(1, cost);
    }
  }
}

/** Texts in the order of their best passage, the passages of each in text order. */
function arrange(picks: readonly Pick[], also: Picked["also"]): PassageChoice[] {
  const byShelf = new Map<PassageSource, RankedPassage[]>();
  for (const { shelf, passage } of picks) byShelf.set(shelf, [...(byShelf.get(shelf) ?? []), passage]);
  return [...byShelf].flatMap(([shelf, passages]) =>
    runsOf(passages.toSorted((left, right) => left.said.from - right.said.from)).map((run, index) => ({
      shelf,
      item: itemOf(shelf, run),
      passages: run,
      also: index === 0 ? [...(also.get(shelf.item.uri) ?? [])] : [],
    })),
  );
}

/** Joins passages with only a few lines between them. */
function runsOf(passages: readonly RankedPassage[]): RankedPassage[][] {
  const runs: RankedPassage[][] = [];
  for (const passage of passages) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    const isNear = before && passage.said.lines[0] - before.said.lines[1] <= maxGap + 1;
    if (isNear && !isPiece(passage) && !isPiece(before)) run!.push(passage);
    else runs.push([passage]);
  }
  return runs;
}
