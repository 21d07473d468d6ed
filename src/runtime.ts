/** The clocks, timers, log and environment that a source gets from its server. */
import type { Resources } from "./resources.ts";

export type LogLevel = "info" | "warn" | "error";

/** The outside world as sources and layers use it. Tests pass their own. */
export interface Runtime {
  /** Milliseconds since the epoch, for times that are shown or stored. This clock may be set back or forward at any time. */
  now(): number;
  /** Milliseconds that never go back, from an arbitrary start: for time limits, delays and ages. */
  monotonicMs(): number;
  /** Resolves after this time, or rejects when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Masks secrets in a text. Present if the mount does so. Whole texts are masked without the source's help. A source that cuts a text
   * into pieces must mask the whole first, because a piece of a secret may not be recognised.
   */
  readonly redact?: (text: string) => string;
  /** Writes a message for the operator. Never log a secret or a caller's content. */
  log(level: LogLevel, message: string, facts?: Readonly<Record<string, unknown>>): void;
  /**
   * Throws if a program or file that the mount names has changed since the config was loaded. Call it before you start or open one
   * by its path. Absent if the operator passed the config explicitly.
   */
  readonly checkTrust?: () => void;
  /** Name of the mount, for advice to the operator. Absent if the source runs alone. */
  readonly mount?: string;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What this server serves, as a caller may see it; usable after `open` has resolved. Absent if the source runs alone. */
  readonly resources?: Pick<Resources, "read" | "stat" | "watch">;
  /** For what one instance has learned with many requests and others can use. Absent if the server has only one instance. */
  readonly sharedCache?: SharedCache;
}

/**
 * Records that all instances of a server share, apart for each source. They may be lost at any time. While the database is away, every method
 * rejects with "unavailable".
 */
export interface SharedCache {
  get(key: string): Promise<SharedCacheRecord | undefined>;
  /** Returns undefined, and changes nothing, unless the record has the version `ifVersion`; undefined: it must not exist. Absent: any. */
  put(
    key: string,
    value: SharedCacheRecord["value"],
    options: { readonly ifVersion?: string | undefined; readonly expiresInMs: number },
  ): Promise<SharedCacheRecord | undefined>;
  /** Returns whether it existed. */
  remove(key: string): Promise<boolean>;
  /** Lets one instance do the work of a name. Undefined if another one holds it; it is free again when that one ends in any way. */
  tryAcquire(name: string): Promise<{ release(): Promise<void> } | undefined>;
}

export interface SharedCacheRecord {
  /** JSON. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Differs after every change of the record. */
  readonly version: string;
}
