/** Collects the items of a watch, so that a test can wait for an expected one. */

export interface TestListener<T> {
  /** All items so far. */
  readonly heard: readonly T[];
  /** Resolves when an item matches, now or earlier; throws if the watch ends without one. */
  until(fits: (given: T, index: number) => boolean, what: string): Promise<void>;
  /** Resolves when the watch has ended, or rejects with its error. */
  readonly ended: Promise<void>;
}

export function collectChanges<T>(given: AsyncIterable<T>): TestListener<T> {
  const heard: T[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  async function take(): Promise<void> {
    try {
      for await (const each of given) {
        heard.push(each);
        wake();
      }
    } finally {
      over = true;
      wake();
    }
  }
  const ended = take();
  // A test that ignores the end must not fail because of it.
  ended.catch(() => undefined);
  return {
    heard,
    ended,
    async until(fits, what) {
      while (!heard.some(fits)) {
        if (over) throw new Error(`the watch ended before it reported ${what}; it reported ${JSON.stringify(heard)}`);
        await new Promise<void>((resolve) => void waiting.add(resolve));
      }
    },
  };
}
