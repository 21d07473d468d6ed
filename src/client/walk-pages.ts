/** Lists from end to end, from servers that may never come to one. */
import { invalid } from "../errors.ts";
import { createCursorGuard } from "../lib/cursor-guard.ts";
import type { Page, PageRequest } from "../resources.ts";

/** Every item of every page. A server whose pages never end, or begin again, is refused with "invalid". */
export async function* walkPages<T>(
  page: (ask: PageRequest) => Promise<Page<T>>,
  { maxPages }: { readonly maxPages?: number } = {},
): AsyncGenerator<T, void, undefined> {
  const leadsOn = createCursorGuard(maxPages);
  let cursor: string | undefined;
  do {
    const { items, next }: Page<T> = await page(cursor === undefined ? {} : { cursor });
    yield* items;
    if (next !== undefined && !leadsOn(next)) throw invalid("the server's list does not come to an end");
    cursor = next;
  } while (cursor !== undefined);
}
