/** Where results are kept: all that is asked of it, each question answered as of one moment. */
import type { Caller } from "../../resources.ts";
import type { Agreement } from "./agreement.ts";
import type { AnalysisQuestion, TaskType } from "./question.ts";
import type { Quality, ModelsResult } from "./result.ts";

/** What lists say of a result. Times are milliseconds since the epoch. */
export interface Summary {
  readonly id: string;
  readonly key: string;
  readonly task: TaskType;
  readonly title: string;
  readonly stored: number;
  /** From here on it is stale. */
  readonly expires: number;
  /** From here on it is not there. */
  readonly dies: number;
  readonly passed: boolean;
  readonly confidence: number;
  readonly consensus: number;
  readonly providers: number;
  readonly cost: number;
  readonly time: number;
}

export interface ResultBody {
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

/** That someone computes the answer of a key. */
export interface ComputationLease {
  readonly token: string;
  /** How long it lasts from now on; 0 when it has ended. */
  readonly leftMs: number;
  readonly question: AnalysisQuestion;
  /** How long ago it was given up, and why. */
  readonly failedMsAgo?: number;
  readonly reason?: string;
}

/** A resource that results rest on, and a caller who stored one of these. */
export interface StoredGround {
  readonly uri: string;
  readonly caller: Caller;
}

export interface ResultToStore extends ResultBody, Pick<Summary, "task" | "title" | "expires" | "dies"> {
  readonly key: Buffer;
  readonly caller: Caller;
  readonly token?: string | undefined;
  /** What happened while it was computed. */
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
  /** Resolves once it is known what time it is for all who share the store. */
  agree(): Promise<void>;
  /** What is kept under a key, and who computes it. */
  look(key: Buffer): Promise<{ readonly kept?: StoredResult; readonly lease?: ComputationLease }>;
  find(id: string): Promise<StoredResult | undefined>;
  summary(id: string): Promise<Summary | undefined>;
  events(id: string): Promise<readonly StoreEvent[]>;
  /** By id, behind `after`. */
  page(after: string, limit: number): Promise<readonly Summary[]>;
  /** Newest first, behind the one of `after`. */
  recent(ask: {
    task?: TaskType;
    after?: readonly [stored: number, id: string];
    limit: number;
  }): Promise<readonly Summary[]>;
  /** Those that begin so. */
  ids(prefix: string, limit: number): Promise<readonly string[]>;

  /** Taken if no fresh result is there and no one else has it; "taken" is told to one of all who ask, in all processes. */
  claim(key: Buffer, question: AnalysisQuestion): Promise<Claim>;
  /** Undefined if it ended, and another has it or it was never given for this key. */
  renew(token: string, key: Buffer): Promise<ComputationLease | undefined>;
  lease(token: string): Promise<ComputationLease | undefined>;
  /** The lease ends; what was kept before stays. Undefined if the lease is not known, or has failed before. */
  fail(token: string, reason: string): Promise<{ readonly key: string; readonly kept?: StoredResult } | undefined>;

  /** In place of what was there under its key, with the same id. */
  keep(keeping: ResultToStore): Promise<Summary>;
  /**
   * What this caller stored and rests on this URI in another version than this is gone; without a version, in any: others may read
   * something else there. Versions that were not stamped here cannot be compared: they go with "all". Says how many went.
   */
  dropGrounded(uri: string, version: string | undefined, which: "stamped" | "all", caller: Caller): Promise<number>;
  isGround(uri: string): Promise<boolean>;
  grounds(limit: number): Promise<readonly StoredGround[]>;
  /** What has died, or is more than there is room for, is gone. Says whether there may be more. */
  purge(): Promise<boolean>;

  count(tallies: Tallies): Promise<void>;
  tallies(): Promise<{ readonly tallies: Tallies; readonly results: number; readonly bytes: number }>;

  /** Changes behind this number; "lost" where they are no longer known. Without a number only where they stand now. */
  changes(after?: number): Promise<{ readonly last: number; readonly changes: readonly StoreChange[] | "lost" }>;
  /** Ids whose time to live ended between, and when the next one does. */
  expired(
    from: number,
    to: number,
    limit: number,
  ): Promise<{ readonly ids: readonly string[]; readonly next?: number }>;
  /** Tells of what other processes wrote, until the signal ends: its key, or "" for anything. Absent where one must look again and again. */
  listen?(hear: (what: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}
