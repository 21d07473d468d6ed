/** A wait that an event ends early. */

interface Waker {
  /** Ends the current wait, or the next one before it begins. */
  wake(): void;
  /**
   * Resolves after this time, when woken, or when the signal is aborted. Woken, it first waits for `quietMs`: events come in groups.
   */
  wait(ms: number, signal: AbortSignal, quietMs?: number): Promise<void>;
}

export function createWaker(wait: (ms: number, signal: AbortSignal) => Promise<void>): Waker {
  let isWoken = false;
  let waiting: AbortController | undefined;
  return {
    wake() {
      isWoken = true;
      waiting?.abort();
    },
    async wait(ms, signal, quietMs = 0) {
      if (!isWoken) {
        waiting = new AbortController();
        await wait(ms, AbortSignal.any([signal, waiting.signal])).catch(() => undefined);
        waiting = undefined;
      }
      if (isWoken && quietMs > 0) await wait(quietMs, signal).catch(() => undefined);
      isWoken = false;
    },
  };
}
