/** Forms in which texts are stored to be compared. */
import { foldText } from "../fold.ts";
import { toHiragana } from "../kana-words.ts";

/** Bytes of a key that its index holds. */
export const headBytes = 512;

/** Paths are compared in this form by filters. */
export function foldedPath(path: string): string {
  return toHiragana(foldText(path)).toLowerCase();
}

/** For columns that are only compared: what PostgreSQL cannot store is left out. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}
