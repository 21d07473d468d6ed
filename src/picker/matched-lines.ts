/** Finds the lines of a text in which the marks of a search hit are. */
import type { Lines } from "../lib/line-range-uri.ts";
import type { Hit } from "../resources.ts";

export interface LinedText {
  readonly text: string;
  /** Number of the first line. */
  readonly firstLine: number;
}

/** In order. Empty if the text does not contain the snippet from the first line of the hit on. */
export function matchedLines({ text, firstLine }: LinedText, { lines, snippet, marks }: Hit): readonly Lines[] {
  if (!lines || snippet === undefined || !marks || lines[0] < firstLine) return [];
  let at = 0;
  let line = firstLine;
  const goTo = (isThere: (feed: number) => boolean): number => {
    for (let feed = text.indexOf("\n", at); feed >= 0 && !isThere(feed); feed = text.indexOf("\n", at)) {
      at = feed + 1;
      line += 1;
    }
    return line;
  };
  goTo(() => line >= lines[0]);
  const found = text.indexOf(snippet, at);
  if (found < 0) return [];
  return marks.map(([from, to]) => [goTo((feed) => feed >= found + from), goTo((feed) => feed >= found + to)]);
}
