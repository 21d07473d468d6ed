/** Requests for many resources: a few concurrently, and some that may fail. */
import type { Call } from "../resources.ts";

/** Runs a function on each item, a few concurrently, and returns the results in the given order. */
export async function roundRobin<T, R>(
  all: readonly T[],
  atOnce: number,
  work: (one: T, at: number) => Promise<R>,
): Promise<R[]> {
  const answers = Array.from<R>({ length: all.length });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) answers[at] = await work(all[at]!, at);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
  return answers;
}

/** The result of a request, or the fallback if it fails. A cancelled one is thrown. */
export async function tryRequest<T>(request: () => Promise<T>, fallback: T, { signal }: Call): Promise<T> {
  try {
    return await request();
  } catch (cause) {
    if (signal.aborted) throw cause;
    return fallback;
  }
}
