/** Selects the few lines of a passage that match the task best: enough to decide whether the rest is worth reading. */
import type { RankedPassage } from "./rank.ts";

const maxLines = 4;

interface Line {
  readonly from: number;
  readonly to: number;
  readonly terms: Set<string>;
}

function linesOf(text: string, { from: begin, to: end }: RankedPassage["counted"]): Line[] {
  const lines: Line[] = [];
  for (let from = text.lastIndexOf("\n", begin - 1) + 1; from < end;) {
    const feed = text.indexOf("\n", from);
    const to = feed === -1 ? text.length : feed;
    lines.push({ from, to, terms: new Set() });
    from = to + 1;
  }
  return lines;
}

/** Some of its lines, from the one at `top`, as a passage. */
function windowOf(passage: RankedPassage, lines: readonly Line[], top: number): RankedPassage {
  const { counted } = passage;
  const window = lines.slice(top, top + maxLines);
  const first = counted.lines[0] + top;
  return {
    ...passage,
    counted: { ...counted, from: window[0]!.from, to: window.at(-1)!.to, lines: [first, first + window.length - 1] },
  };
}

/** Splits a passage into passages of a few lines each. */
export function slicesOf(text: string, passage: RankedPassage): readonly RankedPassage[] {
  const [first, last] = passage.counted.lines;
  if (last - first < maxLines) return [passage];
  const lines = linesOf(text, passage.counted);
  return Array.from({ length: Math.ceil(lines.length / maxLines) }, (_, at) => windowOf(passage, lines, at * maxLines));
}

/** The best lines as a passage; the passage itself if it is short. */
export function excerptOf(text: string, passage: RankedPassage): RankedPassage {
  const { counted, terms } = passage;
  const [first, last] = counted.lines;
  if (last - first < maxLines) return passage;
  const lines = linesOf(text, counted);
  let line = 0;
  for (const { term, at } of counted.places) {
    while (line < lines.length - 1 && at > lines[line]!.to) line += 1;
    lines[line]!.terms.add(term);
  }
  let best = 0;
  let most = -1;
  for (let top = 0; top + maxLines <= lines.length; top += 1) {
    const held = new Set(lines.slice(top, top + maxLines).flatMap((one) => [...one.terms]));
    // The first terms weigh most.
    const worth = [...held].reduce((sum, term) => sum + 1 / (1 + terms.indexOf(term)), 0);
    // Of several equal windows, the one with the match in the middle wins.
    const edge = lines[top]!.terms.size > 0 || lines[top + maxLines - 1]!.terms.size > 0 ? 0 : 0.001;
    if (worth + edge > most) {
      most = worth + edge;
      best = top;
    }
  }
  return windowOf(passage, lines, best);
}
