/** Limits concurrency; the others wait in order. */

/** Waits for a slot, and returns the function that frees it. Rejects with the signal's reason if the signal ends first. */
export function createSlots(count: number): (signal: AbortSignal) => Promise<() => void> {
  const waiting = new Set<() => void>();
  let taken = 0;

  function free(): void {
    taken -= 1;
    for (const enter of waiting) {
      waiting.delete(enter);
      enter();
      return;
    }
  }

  return async (signal) => {
    signal.throwIfAborted();
    if (taken >= count)
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
    taken += 1;
    let isFree = false;
    return () => {
      if (!isFree) free();
      isFree = true;
    };
  };
}
