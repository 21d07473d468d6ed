/** Collects the items of a watch, so that a test can wait for an expected one. */
import { within } from "./within.ts";

export interface TestListener<T> {
  /** All items so far. */
  readonly heard: readonly T[];
  /** Resolves when an item matches, now or earlier. Throws if the watch ends or the time passes without one; the error lists what was reported. */
  until(fits: (given: T, index: number) => boolean, what: string): Promise<void>;
  /** Resolves when the watch has ended, or rejects with its error. */
  readonly ended: Promise<void>;
  /** As `ended`, for a limited time: then the error names what should have ended the watch. */
  untilEnd(why: string): Promise<void>;
}

/** Collects until the watch ends; each wait takes at most `waitMs`. */
export function collectChanges<T>(given: AsyncIterable<T>, waitMs = 30_000): TestListener<T> {
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
  const reports = () => `the watch reported: ${heard.map(formatChange).join(", ") || "nothing"}`;
  const ended = take();
  // A test that ignores the end must not fail because of it.
  ended.catch(() => undefined);
  return {
    heard,
    ended,
    async until(fits, what) {
      const late = new AbortController();
      const found = async () => {
        while (!late.signal.aborted && !heard.some(fits)) {
          if (over) throw new Error(`the watch ended before it reported ${what}; ${reports()}`);
          await new Promise<void>((resolve) => void waiting.add(resolve));
        }
      };
      try {
        await within(waitMs, found(), () => `${what}; ${reports()}`);
      } finally {
        late.abort();
      }
    },
    untilEnd: (why) => within(waitMs, ended, () => `the end of the watch after ${why}; ${reports()}`),
  };
}

/** A change in one line: `changed notes/a.md`. */
export function formatChange(change: unknown): string {
  if (typeof change !== "object" || change === null || !("kind" in change)) return JSON.stringify(change);
  const { kind, path, uri } = change as { readonly kind: string; readonly path?: string; readonly uri?: string };
  return [kind, path ?? uri].filter((word) => word !== undefined).join(" ");
}
