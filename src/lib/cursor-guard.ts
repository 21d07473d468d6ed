/** For reading a list page by page from a server whose pages may never end. */

/** Returns whether a cursor is new and the number of pages still below the limit. */
export function createCursorGuard(maxPages = 100_000): (cursor: string) => boolean {
  const seen = new Set<string>();
  return (cursor) => {
    if (seen.has(cursor) || seen.size + 1 >= maxPages) return false;
    seen.add(cursor);
    return true;
  };
}
