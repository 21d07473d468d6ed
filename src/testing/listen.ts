/** Takes what a watch says as it comes, so that a test can wait for what it expects. */

export interface TestListener<T> {
  /** What was said so far. */
  readonly heard: readonly T[];
  /** Resolves once something that fits has been said, now or earlier; throws if the watch ends without it. */
  until(fits: (said: T, index: number) => boolean, what: string): Promise<void>;
  /** Resolves when the watch has ended, or rejects with what it threw. */
  readonly ended: Promise<void>;
}

export function collectChanges<T>(said: AsyncIterable<T>): TestListener<T> {
  const heard: T[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  async function take(): Promise<void> {
    try {
      for await (const each of said) {
        heard.push(each);
        wake();
      }
    } finally {
      over = true;
      wake();
    }
  }
  const ended = take();
  // A test that does not look at the end must not fail for it.
  ended.catch(() => undefined);
  return {
    heard,
    ended,
    async until(fits, what) {
      while (!heard.some(fits)) {
        if (over) throw new Error(`the watch ended before it said ${what}; it said ${JSON.stringify(heard)}`);
        await new Promise<void>((resolve) => void waiting.add(resolve));
      }
    },
  };
}
