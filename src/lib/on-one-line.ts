/** Puts a text from outside on one line. */

/** Characters without a shape of their own: direction marks, tags and variation selectors can hide text. */
const ignorable = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
/** Controls, unassigned characters, line separators, and every kind of space. */
const blank = /[\p{C}\p{Zl}\p{Zp}\p{Zs}\u2800]+/gu;

/** Removes what can hide text, and replaces line breaks, controls and other spaces by single spaces. */
export function onOneLine(text: string): string {
  return text.replaceAll(ignorable, "").replaceAll(blank, " ").trim();
}

/** Has at most this many UTF-16 code units; a longer text ends in "…", and no character is cut in half. Undefined if nothing is left. */
export function shortLine(text: string, maxLength: number): string | undefined {
  const line = onOneLine(text.slice(0, 4 * maxLength).toWellFormed());
  if (line === "") return undefined;
  return line.length > maxLength ? `${line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
