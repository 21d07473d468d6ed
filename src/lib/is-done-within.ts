/** Whether work is done within a time. It continues in any case. */
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
