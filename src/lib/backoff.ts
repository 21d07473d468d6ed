/** Delays between attempts: doubled after each failure, reset after a lasting success. */

interface BackoffOptions {
  /** After this many failures in a row, the next attempt follows immediately: they may have been temporary. */
  readonly atOnce?: number;
  readonly firstMs: number;
  readonly longestMs: number;
  /** An attempt counts as a success after it has lasted this long. */
  readonly steadyMs: number;
  /** A monotonic clock. */
  readonly now: () => number;
}

interface Backoff {
  /** The attempt has succeeded so far. */
  begun(): void;
  /** The attempt failed, or its result has ended. Returns the delay before the next one. */
  ended(): number;
}

export function createBackoff({ atOnce = 0, firstMs, longestMs, steadyMs, now }: BackoffOptions): Backoff {
  let failures = 0;
  let begunMs = Infinity;
  return {
    begun() {
      begunMs = now();
    },
    ended() {
      if (now() - begunMs >= steadyMs) failures = 0;
      begunMs = Infinity;
      failures += 1;
      return failures <= atOnce ? 0 : Math.min(firstMs * 2 ** (failures - atOnce - 1), longestMs);
    },
  };
}
