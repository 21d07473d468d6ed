/** All pages of a list, one after the other. */
import { setImmediate } from "node:timers/promises";
import type { Page } from "../resources.ts";
import type { ListRequest } from "../source.ts";

export function asking(limit: number, cursor?: string): ListRequest {
  return cursor === undefined ? { limit } : { limit, cursor };
}

const maxPages = 100_000;
const maxEmptyPages = 10_000;

/** The items of all pages from a cursor on. A list that does not end is an error, not an endless test. `about` names the list in errors. */
export async function collect<T>(
  page: (cursor?: string) => Promise<Page<T>>,
  from?: string,
  about = "the list",
): Promise<T[]> {
  const items: T[] = [];
  const cursors = new Set([from]);
  let empty = 0;
  for (let cursor = from, number = 1; ; number += 1) {
    const { items: more, next }: Page<T> = await page(cursor);
    items.push(...more);
    if (next === undefined) return items;
    empty = more.length === 0 ? empty + 1 : 0;
    if (empty > maxEmptyPages) throw new Error(`${about} does not end: ${empty} pages in a row are empty`);
    if (cursors.has(next))
      throw new Error(`${about} does not end: page ${number} returned the cursor ${JSON.stringify(next)} again`);
    if (number === maxPages) throw new Error(`${about} does not end: it has more than ${maxPages} pages`);
    cursors.add(next);
    cursor = next;
    // Timers run, so that the time limit of the test can end it.
    await setImmediate();
  }
}
