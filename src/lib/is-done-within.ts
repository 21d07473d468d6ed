import { wait } from "./wait.ts";

/** Whether work is done within a time. It continues in any case. */
export async function isDoneWithin(
  work: Promise<unknown>,
  ms: number,
  waitFor: (ms: number, signal: AbortSignal) => Promise<void> = wait,
  signal?: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const late = waitFor(ms, signal ? AbortSignal.any([signal, over.signal]) : over.signal).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
