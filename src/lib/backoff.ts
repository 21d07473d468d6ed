/** How long to wait before the next attempt: twice as long after each failure, and from the beginning after a success that lasted. */

export interface BackoffOptions {
  /** After so many failures in a row, the next attempt follows at once: they may have been passing ones. */
  readonly atOnce?: number;
  readonly firstMs: number;
  readonly longestMs: number;
  /** What an attempt began is a success once it has held for so long. */
  readonly steadyMs: number;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}

export interface Backoff {
  /** What the attempt began holds from now on. */
  begun(): void;
  /** The attempt failed, or what it began has ended. Gives the wait before the next. */
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
