/** What the house and the threads of its index say to each other. Everything here can be cloned. */
import type { ErrorKind } from "../../errors.ts";
import type { EmbeddingOptions } from "../../search/embeddings.ts";
import type { HeardChange } from "../../search/crawl.ts";
import type { IndexedMount } from "../../search/indexer.ts";
import type { SearchFindings, SearchQuestion } from "../../search/searcher.ts";
import type { IndexStatus, Role } from "../../search/status.ts";
import type { Runtime } from "../../source.ts";
import type { Project } from "./index-location.ts";

/** What a thread is told when it begins. */
export interface IndexLocation {
  readonly folder: string;
  readonly embeddings: EmbeddingOptions | undefined;
}

export interface IndexerData extends IndexLocation {
  /** What the index is of; said on disk beside it. */
  readonly project?: Project;
  /** Where indexes that nobody has used for long are removed. */
  readonly cacheFolder?: string;
  /** One number, not 0 once the thread is to end: it is read also while no message can be heard. */
  readonly stop: SharedArrayBuffer;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  readonly maxFiles: number;
  readonly once: boolean;
  readonly leaseMs?: number;
  readonly everyMs?: number;
}

/** A mount as the thread needs to know it. */
export interface ThreadMount extends IndexedMount {
  /** How to open its source here; absent where only the house has it. */
  readonly opened?: { readonly source: string; readonly options: unknown; readonly redact: boolean };
  /** Whether the house's source can be asked for one entry. */
  readonly hasStat: boolean;
  /** Whether it lists in another order than that of addresses. */
  readonly hasOrder: boolean;
}

export type ToIndexer =
  | { readonly serve: readonly ThreadMount[] }
  | { readonly armed: string }
  /** `upTo` is the number of the last of these changes. */
  | { readonly mount: string; readonly changes: readonly HeardChange[]; readonly upTo: number }
  /** Someone could not search the index, or found it damaged. */
  | { readonly check: "missing" | "damaged" }
  | { readonly answer: SourceResponse }
  | { readonly close: true };

export type FromIndexer =
  | { readonly role: Role; readonly status: IndexStatus | undefined }
  | { readonly follow: string }
  | { readonly ask: SourceRequest }
  | { readonly cancel: number }
  | ThreadLogLine;

export type ToSearcher =
  | { readonly id: number; readonly question: SearchQuestion; readonly withStatus: boolean }
  | { readonly cancel: number }
  | { readonly close: true };

export type FromSearcher =
  | ({ readonly id: number } & Answered)
  | { readonly id: number; readonly failure: ThreadError; readonly isDamaged: boolean }
  | ThreadLogLine;

export interface Answered extends SearchFindings {
  /** On request: what the process that keeps the index says of it; absent where no process does. */
  readonly status?: IndexStatus;
}

/** A line for the log, which only the house may write: it knows what must not stand there. */
export interface ThreadLogLine {
  readonly said: Parameters<Runtime["log"]>;
}

/** A question to a source that only the house has open. */
export interface SourceRequest {
  readonly id: number;
  readonly mount: string;
  readonly operation: "list" | "read" | "stat";
  readonly asked: unknown;
}

export type SourceResponse =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: ThreadError };

/** An error as it can be handed over. */
export interface ThreadError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly passing: boolean;
}
