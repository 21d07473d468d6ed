/** All pages of a list, one after the other. */
import type { Page } from "../resources.ts";
import type { ListRequest } from "../source.ts";

export function asking(limit: number, cursor?: string): ListRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}

/** The items of all pages from a cursor on. A cursor that returns twice is an error, not an endless test. */
export async function collect<T>(page: (cursor?: string) => Promise<Page<T>>, from?: string): Promise<T[]> {
  const items: T[] = [];
  const cursors = new Set<string>();
  for (let cursor = from; ;) {
    const { items: more, next }: Page<T> = await page(cursor);
    items.push(...more);
    if (next === undefined) return items;
    if (cursors.has(next)) throw new Error("the same cursor was returned twice");
    cursors.add(next);
    cursor = next;
  }
}
