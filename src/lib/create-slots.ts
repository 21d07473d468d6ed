/** Limits concurrency; the others wait in order. */

/** Waits for a slot, and returns the function that frees it. Rejects with the signal's reason if the signal ends first. */
export function createSlots(count: number): (signal: AbortSignal) => Promise<() => void> {
  const waiting = new Set<() => void>();
  let taken = 0;

  function free(): void {
    // Handed over: a caller who comes before the waiter resumes must not find it free.
    for (const enter of waiting) {
      waiting.delete(enter);
      enter();
      return;
    }
    taken -= 1;
  }

  return async (signal) => {
    signal.throwIfAborted();
    if (taken < count) taken += 1;
    else
      await new Promise<void>((resolve, reject) => {
        const enter = (): void => {
          signal.removeEventListener("abort", leave);
          resolve();
        };
        const leave = (): void => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    let isFree = false;
    return () => {
      if (!isFree) free();
      isFree = true;
    };
  };
}
