/** Lets callers wait for an event that may be hours away, each for as long as its own signal allows. */

export interface Waiters<T> {
  /** Resolves at the next `resume`. Rejects with the signal's reason if the signal ends first; then nothing of the call stays in memory. */
  wait(signal: AbortSignal): Promise<T>;
  /** Resumes all that wait now. */
  resume(value: T): void;
  /** How many wait. */
  readonly count: number;
}

/** A promise for all of them would keep a reaction for each call until it settles. */
export function createWaiters<T>(): Waiters<T> {
  const waiting = new Set<(value: T) => void>();
  return {
    wait: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const enter = (value: T): void => {
          signal.removeEventListener("abort", leave);
          resolve(value);
        };
        const leave = (): void => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      }),
    resume(value) {
      const entering = [...waiting];
      waiting.clear();
      for (const enter of entering) enter(value);
    },
    get count() {
      return waiting.size;
    },
  };
}
