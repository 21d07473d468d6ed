/** One page of a complete list. */
import { compareAddresses } from "../lib/address-order.ts";
import type { Page } from "../resources.ts";
import type { Entry, ListRequest } from "../source.ts";

/** The entries after the cursor, which is a path. `entries` must be in the order of `compare`. */
export function entriesPage<T extends Pick<Entry, "path">>(
  entries: readonly T[],
  { cursor, limit }: ListRequest,
  compare = compareAddresses,
): Page<T> {
  const left = cursor === undefined ? entries : entries.filter(({ path }) => compare(path, cursor) > 0);
  const items = left.slice(0, Math.max(1, limit));
  return left.length > items.length ? { items, next: items.at(-1)!.path } : { items };
}
