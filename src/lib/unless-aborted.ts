/** Waits for work until a signal is aborted. */

/**
 * Settles as the work does. If the signal is aborted first, rejects with its reason, or with the error made from it. The work is not
 * stopped: others may wait for it.
 */
export function unlessAborted<T>(
  work: T | Promise<T>,
  signal: AbortSignal,
  toError = (reason: unknown): Error => reason as Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(toError(signal.reason));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    void Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}
