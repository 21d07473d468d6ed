/** Prepares a text for a model: removes invisible characters, masks secrets, and preserves the lines. */
import { maskSecrets } from "../lib/secrets.ts";
import { removeInvisible } from "./invisible.ts";

export interface Clean {
  readonly text: string;
  /** Number of invisible characters removed, by line from 1. */
  readonly removed: ReadonlyMap<number, number>;
  /** Number of secrets masked, by the line on which they begin. */
  readonly masked: ReadonlyMap<number, number>;
}

const none: ReadonlyMap<number, number> = new Map();

export function clean(text: string): Clean {
  const visible = removeInvisible(text);
  const { text: safe, masked } = maskSecrets(visible.text);
  return {
    text: safe,
    removed: visible.removed === 0 ? none : removedByLine(text, visible.text),
    masked:
      masked.length === 0
        ? none
        : byLine(
            visible.text,
            masked.map(({ from }) => from),
          ),
  };
}

function removedByLine(before: string, after: string): ReadonlyMap<number, number> {
  const left = after.split("\n");
  const counts = new Map<number, number>();
  before.split("\n").forEach((line, at) => {
    const removed = line.length - left[at]!.length;
    if (removed > 0) counts.set(at + 1, removeInvisible(line).removed || removed);
  });
  return counts;
}

/** Offsets must be in order. */
function byLine(text: string, offsets: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  let line = 1;
  let at = 0;
  for (const offset of offsets) {
    for (let feed = text.indexOf("\n", at); feed !== -1 && feed < offset; feed = text.indexOf("\n", at)) {
      line += 1;
      at = feed + 1;
    }
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

/** Sum of the counts on the lines from first to last. */
export function countIn(counts: ReadonlyMap<number, number>, [first, last]: readonly [number, number]): number {
  let sum = 0;
  for (const [line, count] of counts) if (line >= first && line <= last) sum += count;
  return sum;
}
