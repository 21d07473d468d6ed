/** How far an index has come, as people, other processes and `pressmark://index/status` are told it. */
import type { CrawlState } from "./crawl.ts";
import type { IndexProblem } from "./index-problem.ts";

export interface MountStatus {
  readonly name: string;
  /** What the mount is made from. */
  readonly key: string;
  /** "full": the index is as large as it may be. "unavailable": there is no index to search or to write. */
  readonly state: CrawlState["phase"] | "full" | "unavailable";
  readonly documents: number;
  readonly passages: number;
  /** The number of the last change that this is about. */
  readonly heard?: number;
  /** How much has been looked at, of how much. */
  readonly looked: number;
  readonly total: number;
  /** How many resources and changes are known and not indexed yet, those that could not be read included. */
  readonly pending: number;
  /** How many could not be read. They are tried again. */
  readonly unread: number;
  /** From 0 to 1; 1 only when nothing is known to be missing or stale. */
  readonly ready: number;
  readonly lastError?: string;
}

export interface EmbeddingStatus {
  readonly model: string;
  /** "down": answers come without vectors until the endpoint is back. */
  readonly state: "working" | "complete" | "down";
  readonly lastError?: string;
}

export interface IndexStatus {
  readonly mounts: readonly MountStatus[];
  /** On disk. */
  readonly bytes: number;
  /** Why there is no index, or why it is not kept up to date. It is tried again. */
  readonly problem?: IndexProblem;
  /** Which database this is about, as `fileIdentity` tells it; absent where none is open. */
  readonly file?: string;
  readonly embeddings?: EmbeddingStatus;
}

/** Whether this process keeps the index, or another one does. */
export type Role = "starting" | "writer" | "reader";
