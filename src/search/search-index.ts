/** The interface of an index to the router. */
import type { DocumentAddress, StoreQuery, StoreHit } from "./store.ts";

export interface IndexQuery extends Omit<StoreQuery, "vector" | "visibility"> {
  /** Who searches. Documents that they may not see affect neither hits nor scores. Default: someone who sees everything. */
  readonly viewer?: Viewer;
  /** Whether the same search was sent before with a lower limit: its caller is not charged again. */
  readonly isRepeated?: boolean;
}

export interface SearchIndex {
  /** Share of a mount that is indexed, from 0 to 1; undefined if not indexed. 1 only when nothing is known to be missing or stale. */
  ready(mount: string): number | undefined;
  /** Why a mount is not, or not completely, indexed, as a message for callers; undefined if nothing went wrong. */
  problem(mount: string): string | undefined;
  /** True if this process has just compared the mount with the index, for this search: it need not be checked whether it responds. */
  hasJustRead?(mount: string): boolean;
  /**
   * Resolves when the first pass over these mounts is done, if that is a matter of moments: waits at most for the first second after the
   * first search, and not for a large or failing mount, or when the signal is aborted. Never rejects. If absent, nothing is waited for.
   */
  awaitFirstPass?(mounts: readonly string[], signal: AbortSignal): Promise<void>;
  /** Best first. An invalid query throws "invalid", a lost index "unavailable"; before an index exists there are no hits. */
  search(query: IndexQuery, signal: AbortSignal): Promise<readonly StoreHit[]>;
}

export interface Viewer {
  /** Equal for callers who may see the same documents. */
  readonly key: string;
  /** Undefined if it cannot be decided yet. */
  maySee(document: DocumentAddress): boolean | undefined;
}
