/** How far an index has come, as people, other processes and `pressmark://index/status` are told it. */
import type { CrawlState } from "./crawl.ts";

export interface MountStatus {
  readonly name: string;
  /** What the mount is made from. */
  readonly key: string;
  readonly state: CrawlState["phase"] | "full";
  readonly documents: number;
  readonly passages: number;
  /** How much has been looked at, of how much. */
  readonly looked: number;
  readonly total: number;
  /** How much is still to be looked at. */
  readonly pending: number;
  /** How many could not be read. They are tried again. */
  readonly unread: number;
  /** From 0 to 1; 1 only when all of it has been looked at. */
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
  readonly embeddings?: EmbeddingStatus;
}

/** Whether this process keeps the index, or another one does. */
export type Role = "starting" | "writer" | "reader";
