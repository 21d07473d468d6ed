/** One page of a complete list of entries. */
import { compareAddresses } from "../../lib/address-order.ts";
import type { Page } from "../../resources.ts";
import type { Entry, ListRequest } from "../../source.ts";

/** The entries after the cursor. `entries` must be in address order. */
export function entriesPage(entries: readonly Entry[], { cursor, limit }: ListRequest): Page<Entry> {
  const left = cursor === undefined ? entries : entries.filter(({ path }) => compareAddresses(path, cursor) > 0);
  const items = left.slice(0, Math.max(1, limit));
  return left.length > items.length ? { items, next: items.at(-1)!.path } : { items };
}
