/** What a source of one instance keeps for the others: records and leases of the shared state, with names of their own for each source. */
import type { SharedCache } from "../runtime.ts";
import type { SharedState } from "./shared-state.ts";

/**
 * Kinds of records and names of leases that begin with this can be lost at any time: no backup contains them.
 */
export const cachePrefix = "cache:";

export function createSharedCache(
  { store, leases }: Pick<SharedState, "store" | "leases">,
  source: string,
): SharedCache {
  const kind = `${cachePrefix}${source}`;
  return {
    get: (key) => store.get(kind, key),
    put: (key, value, options) => store.put(kind, key, value, options),
    remove: (key) => store.remove(kind, key),
    tryAcquire: (name) => leases.tryAcquire(`${kind}:${name}`),
  };
}
