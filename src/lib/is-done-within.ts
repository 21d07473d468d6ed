/** Whether work is done by a time. It goes on either way. */
export async function isDoneWithin(
  work: Promise<unknown>,
  ms: number,
  wait: (ms: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const late = wait(ms, AbortSignal.any([signal, over.signal])).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
