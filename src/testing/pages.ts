/** All pages of a list, one after the other. */
import type { Page } from "../resources.ts";
import type { ListRequest } from "../source.ts";

export function asking(limit: number, cursor?: string): ListRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}

export interface CollectOptions {
  /** The list has no order: a cursor may return, and pages may be empty, though not without end. */
  readonly isUnordered?: boolean | undefined;
  /** Names the list in errors. */
  readonly about?: string;
}

const maxEmptyPages = 10_000;

/** The items of all pages from a cursor on. A list that does not end is an error, not an endless test. */
export async function collect<T>(
  page: (cursor?: string) => Promise<Page<T>>,
  from?: string,
  { isUnordered = false, about = "the list" }: CollectOptions = {},
): Promise<T[]> {
  const items: T[] = [];
  const cursors = new Set<string>();
  let empty = 0;
  for (let cursor = from, number = 1; ; number += 1) {
    const { items: more, next }: Page<T> = await page(cursor);
    items.push(...more);
    if (next === undefined) return items;
    empty = more.length === 0 ? empty + 1 : 0;
    if (empty > maxEmptyPages) throw new Error(`${about} does not end: ${empty} pages in a row are empty`);
    if (next === cursor || (cursors.has(next) && !isUnordered))
      throw new Error(`${about} does not end: page ${number} returned the cursor ${JSON.stringify(next)} again`);
    cursors.add(next);
    cursor = next;
  }
}
