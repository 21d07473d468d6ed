/** What a house asks of its index. */
import type { StoreQuery, StoreHit } from "./store.ts";

export interface SearchIndex {
  /** How much of a mount is in, from 0 to 1; undefined where a mount is not indexed. 1 only when nothing is known to be missing or stale. */
  ready(mount: string): number | undefined;
  /** Why a mount is not indexed, or not all of it, in words for callers; undefined where nothing went wrong. */
  problem(mount: string): string | undefined;
  /** Best first. A question that cannot be understood throws "invalid", an index that was lost "unavailable"; before there is one, nothing is found. */
  search(ask: Omit<StoreQuery, "vector">, signal: AbortSignal): Promise<readonly StoreHit[]>;
}
