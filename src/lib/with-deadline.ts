/** Work that must be done by a time: the signal that it is given ends then, or with the caller's own. */

export interface Deadline {
  readonly signal: AbortSignal;
  /** The time begins anew, as when the other side shows that it is still at it. */
  extend(): void;
}

/** Rejects when the time is up, with what `late` makes, or with the reason of the signal; work that heeds neither is left to itself. */
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
