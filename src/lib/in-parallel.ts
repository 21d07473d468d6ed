/** Does something for each item, a few at a time. */

/** Results in the order of the items. After a failure nothing is begun; it is thrown when everything begun has ended. */
export async function inParallel<T, R>(
  items: readonly T[],
  maxAtOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  const left = items.entries();
  let failure: { readonly cause: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (const [at, item] of left) {
      try {
        done[at] = await work(item);
      } catch (cause) {
        failure ??= { cause };
      }
      if (failure) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, items.length) }, worker));
  if (failure) throw failure.cause;
  return done;
}
