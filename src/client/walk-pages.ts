/** Walks all pages of a list, with a limit for servers whose lists never end. */
import { invalid } from "../errors.ts";
import { createCursorGuard } from "../lib/cursor-guard.ts";
import { createRepeatFilter } from "../lib/repeat-filter.ts";
import type { Page, PageRequest } from "../resources.ts";

/** Yields every item of every page; a resource that a list without order repeats, once. Throws "invalid" if the pages never end or repeat. */
export async function* walkPages<T>(
  page: (request: PageRequest) => Promise<Page<T>>,
  { maxPages }: { readonly maxPages?: number } = {},
): AsyncGenerator<T, void, undefined> {
  const leadsOn = createCursorGuard(maxPages);
  const isRepeated = createRepeatFilter();
  let cursor: string | undefined;
  do {
    const { items, next }: Page<T> = await page(cursor === undefined ? {} : { cursor });
    for (const item of items) if (!isRepeated(item)) yield item;
    if (next !== undefined && !leadsOn(next)) throw invalid("the server's list does not end");
    cursor = next;
  } while (cursor !== undefined);
}
