/** Shortens a text. */

/** A copy of a text, with an ellipsis if it is cut. Parts of a string, also whole lines of it, otherwise keep that string in memory. */
export function cutText(text: string, maxLength: number): string {
  return Buffer.from(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text).toString("utf8");
}
