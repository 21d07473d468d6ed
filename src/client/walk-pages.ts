/** Lists from end to end, from servers that may never come to one. */
import { invalid } from "../errors.ts";
import type { Page, PageAsk } from "../resources.ts";

/** Every item of every page. A server whose pages never end, or begin again, is refused with "invalid". */
export async function* walkPages<T>(
  page: (ask: PageAsk) => Promise<Page<T>>,
  { maxPages = 100_000 }: { readonly maxPages?: number } = {},
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const { items, next } = await page(cursor === undefined ? {} : { cursor });
    yield* items;
    if (next === undefined) return;
    if (seen.has(next)) throw invalid("the server gives the same page again and again");
    seen.add(next);
    cursor = next;
  }
  throw invalid(`the server's list has more than ${maxPages} pages`);
}
