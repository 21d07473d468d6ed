/** For whoever walks a list page by page, from a server whose pages may never end. */

/** Says of each next cursor whether it leads on: not to a page that was there before, nor beyond so many pages. */
export function createCursorGuard(maxPages = 100_000): (cursor: string) => boolean {
  const seen = new Set<string>();
  return (cursor) => {
    if (seen.has(cursor) || seen.size + 1 >= maxPages) return false;
    seen.add(cursor);
    return true;
  };
}
