/** Cuts lines out of a text. */

type LinesOfText =
  | { readonly text: string; readonly last: number; readonly total: number }
  /** There are fewer lines. */
  | { readonly total: number };

/** The lines from `first` to `last`, counted from 1, as far as they exist, with their line ends. */
export function cutLines(text: string, first: number, last: number): LinesOfText {
  let total = 0;
  let from: number | undefined;
  let to = text.length;
  for (let at = 0; at < text.length;) {
    total += 1;
    if (total === first) from = at;
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
    if (total === last) to = at;
  }
  return from === undefined ? { total } : { text: text.slice(from, to), last: Math.min(last, total), total };
}
