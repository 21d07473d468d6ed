/** Messages between the main thread and the index threads. All of them can be cloned. */
import type { EmbeddingOptions } from "../../search/embeddings.ts";
import type { HeardChange } from "../../search/crawl.ts";
import type { IndexedMount, IndexerOptions } from "../../search/indexer.ts";
import type { SearchFindings, SearchQuestion } from "../../search/searcher.ts";
import type { IndexStatus, Role } from "../../search/status.ts";
import type { MountAnnotations } from "../../layers/annotate.ts";
import type { Runtime } from "../../source.ts";
import type { Project } from "./index-location.ts";
import type { RemoteCall, RemoteReply } from "./remote-call.ts";

/** Initial data of a thread. */
export interface IndexLocation {
  readonly folder: string;
  readonly embeddings: EmbeddingOptions | undefined;
}

/** The index that instances share. */
export interface SharedIndexLocation {
  /** URL of the database. Contains a password: it is never logged. */
  readonly url: string;
  /** Id of this instance. */
  readonly instance: string;
  /** Unique for each thread: its changes are numbered from 1. */
  readonly numbering?: string;
}

export interface IndexerData
  extends IndexLocation, Pick<IndexerOptions, "maxFileBytes" | "maxBytes" | "maxFiles" | "once" | "leaseMs"> {
  /** What the index belongs to; stored beside it. */
  readonly project: Project;
  /** Present if the index is shared: nothing is written to the folder. */
  readonly shared?: SharedIndexLocation | undefined;
  /** Folder in which unused indexes are removed. */
  readonly cacheFolder?: string;
  /** One number, set to non-zero to stop the thread; read even while no message can be received. */
  readonly stop: SharedArrayBuffer;
}

/** A mount for the thread. */
export interface ThreadMount extends IndexedMount {
  /** How to open its source; absent if only the main thread can. */
  readonly opened?: {
    readonly source: string;
    readonly options: unknown;
    readonly redact: boolean;
    readonly annotations: MountAnnotations;
  };
  /** Whether the main thread's source has `stat`. */
  readonly hasStat: boolean;
  /** Whether its index contains other entries than its list. */
  readonly hasOwnList: boolean;
  /** Whether it lists in its own order instead of by address. */
  readonly hasOrder: boolean;
  /** As in `Source`. */
  readonly isUnordered: boolean;
}

export type ToIndexer =
  | { readonly serve: readonly ThreadMount[]; readonly leftOut: readonly string[] }
  | { readonly armed: string }
  /** `upTo` is the number of the last of these changes. */
  | { readonly mount: string; readonly changes: readonly HeardChange[]; readonly upTo: number }
  /** Of a shared index: how many changes of a mount are known here and not sent yet. */
  | { readonly unsentOf: string; readonly count: number }
  /** Someone could not search the index, or found it damaged. */
  | { readonly check: "missing" | "damaged" }
  | { readonly close: true }
  | RemoteReply<unknown>;

export type FromIndexer =
  | { readonly role: Role; readonly status: IndexStatus | undefined }
  | { readonly follow: string }
  | RemoteCall<SourceRequest>
  | ThreadLogLine;

export type ToSearcher = { readonly close: true } | RemoteCall<SearchQuestion>;

export type FromSearcher = RemoteReply<SearchFindings> | ThreadLogLine;

/** A log line for the main thread, which redacts secrets. */
export interface ThreadLogLine {
  readonly log: Parameters<Runtime["log"]>;
}

/** A request to a source that only the main thread has open. */
export interface SourceRequest {
  readonly mount: string;
  readonly operation: "list" | "listIndexed" | "read" | "stat";
  readonly asked: unknown;
}
