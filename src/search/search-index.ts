/** What a house asks of its index. */
import type { StoreAsk, StoreHit } from "./store.ts";

export interface SearchIndex {
  /** How much of a mount is in, from 0 to 1; undefined where a mount is not indexed. 1 only when nothing is known to be missing or stale. */
  ready(mount: string): number | undefined;
  /** Best first. A question that cannot be understood throws "invalid"; before there is an index, nothing is found. */
  search(ask: Omit<StoreAsk, "vector">, signal: AbortSignal): Promise<readonly StoreHit[]>;
}
