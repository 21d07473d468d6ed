/** A clock that a test moves by hand. */
import type { Runtime } from "../source.ts";

export interface Logged {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Clock {
  /** The wall clock and the monotonic clock show different times, so that neither can be mistaken for the other. */
  readonly runtime: Runtime;
  /** Messages of `runtime.log`, oldest first. */
  readonly logged: readonly Logged[];
  /** How many waits are pending. */
  readonly waiting: number;
  /**
   * Moves time forward. Due waits end in order, each at its own time; their effects, and waits that they start, are handled before this
   * resolves.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward, or back with a negative value. No time passes. */
  setWallClock(byMs: number): void;
  /** Resolves when everything that needs no time has happened. */
  settle(): Promise<void>;
}

interface Wait {
  readonly dueMs: number;
  end(): void;
}

export function createClock(startMs = 1_700_000_000_000): Clock {
  const logged: Logged[] = [];
  const waits = new Set<Wait>();
  /** The monotonic clock. */
  let nowMs = 1_000_000;
  let wallMs = startMs - nowMs;

  function earliest(): Wait | undefined {
    let first: Wait | undefined;
    for (const wait of waits) if (first === undefined || wait.dueMs < first.dueMs) first = wait;
    return first;
  }

  return {
    logged,
    get waiting() {
      return waits.size;
    },
    runtime: {
      env: process.env,
      now: () => wallMs + nowMs,
      monotonicMs: () => nowMs,
      wait(ms, signal) {
        return new Promise<void>((resolve, reject) => {
          if (signal.aborted) {
            reject(signal.reason);
            return;
          }
          const wait: Wait = {
            dueMs: nowMs + Math.max(0, ms),
            end() {
              waits.delete(wait);
              signal.removeEventListener("abort", leave);
              resolve();
            },
          };
          function leave(): void {
            waits.delete(wait);
            reject(signal.reason);
          }
          waits.add(wait);
          signal.addEventListener("abort", leave, { once: true });
        });
      },
      log(level, message, facts) {
        logged.push(facts ? { level, message, facts } : { level, message });
      },
    },
    settle,
    setWallClock(byMs) {
      wallMs += byMs;
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (let next = earliest(); next !== undefined && next.dueMs <= untilMs; next = earliest()) {
        nowMs = next.dueMs;
        next.end();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}

// A turn of the event loop ends after all microtasks, including those started by microtasks.
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
