/** The text up to the first match, or all of it. A regular expression that runs to the end would start again at every match. */
export function cutAt(text: string, mark: RegExp): string {
  const at = text.search(mark);
  return at < 0 ? text : text.slice(0, at);
}
