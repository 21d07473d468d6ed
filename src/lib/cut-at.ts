/** The text up to the first match, all of it where there is none. An expression that runs to the end would try to from every match on. */
export function cutAt(text: string, mark: RegExp): string {
  const at = text.search(mark);
  return at < 0 ? text : text.slice(0, at);
}
