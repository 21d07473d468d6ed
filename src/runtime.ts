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
}
