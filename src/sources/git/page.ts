/** One page of entries that are all known. */
import { compareAddresses } from "../../lib/address-order.ts";
import type { Page } from "../../resources.ts";
import type { Entry, ListRequest } from "../../source.ts";

/** The entries behind the cursor's. They stand in address order. */
export function entriesPage(entries: readonly Entry[], { cursor, limit }: ListRequest): Page<Entry> {
  const left = cursor === undefined ? entries : entries.filter(({ path }) => compareAddresses(path, cursor) > 0);
  const items = left.slice(0, Math.max(1, limit));
  return left.length > items.length ? { items, next: items.at(-1)!.path } : { items };
}
