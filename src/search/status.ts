/** The status of an index, as shown to people, to other processes and at `pressmark://index/status`. */
import type { CrawlState } from "./crawl.ts";
import type { IndexProblem } from "./index-problem.ts";

export interface MountStatus {
  readonly name: string;
  /** Identifies what the mount is made from. */
  readonly key: string;
  /** "full": the index has reached its maximum size. "unavailable": there is no index to search or to write. */
  readonly state: CrawlState["phase"] | "full" | "unavailable";
  readonly documents: number;
  readonly passages: number;
  /** Number of the last change that this takes into account. */
  readonly heard?: number;
  /** Of a shared index: whose number that is. Each instance has its own. */
  readonly numbering?: string | undefined;
  /** Number of entries checked, and their total. */
  readonly looked: number;
  readonly total: number;
  /** Number of resources and changes known and not indexed yet, including those that could not be read. */
  readonly pending: number;
  /** Number that could not be read. They are retried. */
  readonly unread: number;
  /** How many of the pending changes have not reached the indexer: its instance only knows of them, or cannot receive any. */
  readonly unsent?: number;
  /** From 0 to 1; 1 only when nothing is known to be missing or stale. */
  readonly ready: number;
  readonly lastError?: string;
}

export interface EmbeddingStatus {
  readonly model: string;
  /** "down": search works without vectors until the endpoint is back. */
  readonly state: "working" | "complete" | "down";
  readonly lastError?: string;
}

export interface IndexStatus {
  readonly mounts: readonly MountStatus[];
  /** Size on disk. Absent for an index in a shared database, which is not measured. */
  readonly bytes?: number;
  /** Why there is no index, or why it is not up to date. It is retried. */
  readonly problem?: IndexProblem;
  /** The database that this is about, from `fileIdentity`; absent if none is open. */
  readonly file?: string;
  readonly embeddings?: EmbeddingStatus;
  /** Present if no process updates the index: how old it is. */
  readonly ageMs?: number;
  /** Present if its process makes a single pass and does not follow changes. */
  readonly isSinglePass?: true;
}

/** The writer confirms its status more often than this, unless it is suspended or hangs. */
const maxAgeMs = 5000;

/** A status of another process that was confirmed so long ago. What has changed since an old one is unknown. */
export function statusAfter(status: IndexStatus, ageMs: number): IndexStatus {
  // The clock may have been set back.
  const age = Math.abs(ageMs);
  if (age <= maxAgeMs) return status;
  const lastError = `the index was last updated ${Math.round(age / 1000)} s ago by another process`;
  const aged = (mount: MountStatus): MountStatus => {
    return { ...mount, state: "failing", ready: Math.min(mount.ready, 0.99), lastError };
  };
  const { isSinglePass: _isSinglePass, ...rest } = status;
  return { ...rest, mounts: status.mounts.map(aged) };
}

/** Whether this process or another one writes the index. */
export type Role = "starting" | "writer" | "reader";
