/** Shows a text of any origin on one line of limited length. */

/** Spaces, line ends, controls, and characters that hide text or turn it around. */
const unseen = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]+/gu;

/** Has at most this many UTF-16 code units; a longer text ends in "…", and no character is cut in half. Undefined if nothing is left. */
export function shortLine(text: string, maxLength: number): string | undefined {
  const line = text
    .slice(0, 4 * maxLength)
    .toWellFormed()
    .replaceAll(unseen, " ")
    .trim();
  if (line === "") return undefined;
  return line.length > maxLength ? `${line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
