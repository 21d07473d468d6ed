/** The store of results: every method reads one consistent state. */
import type { Caller } from "../../resources.ts";
import type { Agreement } from "./agreement.ts";
import type { AnalysisQuestion, TaskType } from "./question.ts";
import type { Quality, ModelsResult } from "./result.ts";

/** A result as listed. Times are milliseconds since the epoch. */
export interface Summary {
  readonly id: string;
  readonly key: string;
  readonly task: TaskType;
  readonly title: string;
  readonly stored: number;
  /** From here on it is stale. */
  readonly expires: number;
  /** From here on it no longer exists. */
  readonly dies: number;
  readonly passed: boolean;
  readonly confidence: number;
  readonly consensus: number;
  readonly providers: number;
  readonly cost: number;
  readonly time: number;
}

interface ResultBody {
  readonly question: AnalysisQuestion;
  readonly result: ModelsResult;
  readonly quality: Quality;
  readonly agreement: Agreement;
}

export interface StoredResult extends Summary, ResultBody {}

export interface StoreEvent {
  readonly at: number;
  readonly what: string;
  readonly detail?: string;
}

/** The right to compute the result of a key. */
export interface ComputationLease {
  readonly token: string;
  /** Remaining time; 0 when it has ended. */
  readonly leftMs: number;
  readonly question: AnalysisQuestion;
  /** How long ago it failed, and why. */
  readonly failedMsAgo?: number;
  readonly reason?: string;
}

/** A resource that results rest on, and a caller who stored one of them. */
interface StoredGround {
  readonly uri: string;
  readonly caller: Caller;
}

export interface ResultToStore extends ResultBody, Pick<Summary, "task" | "title" | "expires" | "dies"> {
  readonly key: Buffer;
  readonly caller: Caller;
  readonly token?: string;
  /** What happened during the computation. */
  readonly events: readonly Omit<StoreEvent, "at">[];
}

export type Tallies = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface StoreChange {
  readonly seq: number;
  readonly kind: "appeared" | "changed" | "gone";
  readonly id: string;
}

export interface Claim {
  readonly taken?: ComputationLease;
  readonly held?: ComputationLease;
  readonly kept?: StoredResult;
}

export interface AnalysisStore {
  /** Resolves when the shared time of the store is known. */
  agree(): Promise<void>;
  /** The stored result of a key, and who computes it. */
  look(key: Buffer): Promise<{ readonly kept?: StoredResult; readonly lease?: ComputationLease }>;
  find(id: string): Promise<StoredResult | undefined>;
  summary(id: string): Promise<Summary | undefined>;
  events(id: string): Promise<readonly StoreEvent[]>;
  /** By id, behind `after`. */
  page(after: string, limit: number): Promise<readonly Summary[]>;
  /** Newest first, behind `after`. */
  recent(request: {
    task?: TaskType;
    after?: readonly [stored: number, id: string];
    limit: number;
  }): Promise<readonly Summary[]>;
  /** Ids with this prefix. */
  ids(prefix: string, limit: number): Promise<readonly string[]>;

  /** Takes the lease if there is no fresh result and no other lease; only one caller in all processes gets "taken". */
  claim(key: Buffer, question: AnalysisQuestion): Promise<Claim>;
  /** Undefined if it has ended and another caller holds it, or if it was never given for this key. */
  renew(token: string, key: Buffer): Promise<ComputationLease | undefined>;
  lease(token: string): Promise<ComputationLease | undefined>;
  /** Ends the lease; an earlier result stays. Undefined if the lease is unknown or has failed before. */
  fail(token: string, reason: string): Promise<{ readonly key: string; readonly kept?: StoredResult } | undefined>;

  /** Replaces an earlier result of the key, with the same id. */
  keep(keeping: ResultToStore): Promise<Summary>;
  /**
   * Removes results that this caller stored and that rest on another version of this URI; without a version, on any version: other callers
   * may read other content there. Versions not stamped here cannot be compared: "all" removes them too. Returns how many were removed.
   */
  dropGrounded(uri: string, version: string | undefined, which: "stamped" | "all", caller: Caller): Promise<number>;
  isGround(uri: string): Promise<boolean>;
  grounds(limit: number): Promise<readonly StoredGround[]>;
  /** Removes expired results, and those above the size limit. Returns whether there may be more. */
  purge(): Promise<boolean>;

  count(tallies: Tallies): Promise<void>;
  tallies(): Promise<{ readonly tallies: Tallies; readonly results: number; readonly bytes: number }>;

  /** Changes after this number; "lost" if they are no longer known. Without a number, only the current number. */
  changes(after?: number): Promise<{ readonly last: number; readonly changes: readonly StoreChange[] | "lost" }>;
  /** Ids that became stale in this period, and when the next one will. */
  expired(
    from: number,
    to: number,
    limit: number,
  ): Promise<{ readonly ids: readonly string[]; readonly next?: number }>;
  /** Reports writes of other processes until the signal ends: the key, or "" for anything. Absent if the store must be polled. */
  listen?(hear: (what: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}
