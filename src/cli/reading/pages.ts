/** Reads all pages of a list, on demand. */
import { invalid, quote, ResourceError } from "../../errors.ts";
import { createCursorGuard } from "../../lib/cursor-guard.ts";
import { createRepeatFilter } from "../../lib/repeat-filter.ts";
import type { Page, PageRequest } from "../../resources.ts";
import { plain } from "../print.ts";

export interface PagesOptions {
  /** Called with the number of items so far. */
  readonly seen: (count: number) => void;
  /** Shows a warning to the user. */
  readonly warn: (sentence: string) => void;
}

/** A resource that a list without order repeats is in the pages once. Throws "unavailable" after the last page if a mount failed (already reported by `warn`), and "invalid" if the list never ends. */
export async function* pagesOf<T>(
  ask: (page: PageRequest) => Promise<Page<T>>,
  { seen, warn }: PagesOptions,
): AsyncGenerator<readonly T[]> {
  const leadsOn = createCursorGuard();
  const isRepeated = createRepeatFilter();
  const failed = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  do {
    const page = await ask(cursor === undefined ? {} : { cursor });
    for (const { mount, message } of page.failures ?? []) {
      if (!failed.has(mount)) warn(`mount ${quote(mount)}: ${plain(message)}`);
      failed.add(mount);
    }
    const items = page.items.filter((item) => !isRepeated(item));
    seen((count += items.length));
    yield items;
    if (page.next !== undefined && !leadsOn(page.next)) throw invalid("the server's list does not come to an end");
    cursor = page.next;
  } while (cursor !== undefined);
  if (failed.size > 0) throw new ResourceError("unavailable", "the list is not complete; see above");
}
