/** Runs work with a deadline: its signal aborts then, or with the caller's signal. */

interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the time, for example when the other side shows progress. */
  extend(): void;
}

/** Rejects with the error of `late` at the deadline, or with the signal's reason; work that ignores its signal continues unobserved. */
export function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  late: () => Error,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const own = new AbortController();
    const end = (reason: unknown): void => {
      reject(reason as Error);
      own.abort(reason);
    };
    const leave = (): void => end(signal.reason);
    const expire = (): void => end(late());
    let timer = setTimeout(expire, ms);
    signal.addEventListener("abort", leave, { once: true });
    const deadline: Deadline = {
      signal: own.signal,
      extend() {
        clearTimeout(timer);
        if (!own.signal.aborted) timer = setTimeout(expire, ms);
      },
    };
    work(deadline)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
      });
  });
}
