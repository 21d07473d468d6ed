/** One change detector for all watches of a source: the first watch starts it, the last one ends it. */
import { ResourceError, unavailable } from "../errors.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { SourceChange } from "../source.ts";
import { createSourceWatches, type SourceWatches } from "./source-watches.ts";

export interface SharedWatch {
  /** Resolves when the watch is active. Ends with the signal; throws if changes can no longer be detected. */
  watch(signal: AbortSignal): Promise<QueuedChanges>;
  /** Nothing runs after it resolves. */
  close(): Promise<void>;
}

/** Changes that were detected and not yet read. */
export interface QueuedChanges extends AsyncIterableIterator<SourceChange, undefined> {
  readonly size: number;
}

/** What the function that detects changes of a backend gets. */
export interface ChangeDetector {
  /** From here on no change is missed. */
  armed(): void;
  tell(changes: readonly SourceChange[]): void;
  readonly signal: AbortSignal;
}

interface Run {
  readonly watches: SourceWatches;
  readonly armed: Promise<void>;
}

/** `look` runs until the signal ends, or throws when it cannot continue. */
export function createSharedWatch(look: (detector: ChangeDetector) => Promise<void>, maxQueued?: number): SharedWatch {
  let current: Run | undefined;
  let isClosed = false;
  /** Detectors that may still be running. */
  const running = new Set<Promise<void>>();

  function begin(): Run {
    const stop = new AbortController();
    const armed = Promise.withResolvers<void>();
    // Waiting callers receive the error; there may be none.
    armed.promise.catch(() => undefined);
    function end(): void {
      if (current === run) current = undefined;
      stop.abort();
    }
    const watches = createSourceWatches(end, maxQueued);
    const run: Run = { watches, armed: armed.promise };
    const over = look({ signal: stop.signal, armed: armed.resolve, tell: watches.tell })
      .then(armed.resolve, (cause: unknown) => {
        if (stop.signal.aborted) return armed.resolve();
        const failure = toFailure(cause);
        watches.end(failure);
        armed.reject(failure);
      })
      .finally(() => running.delete(over));
    running.add(over);
    return run;
  }

  return {
    async watch(signal) {
      if (signal.aborted || isClosed) return createSourceWatches().join(AbortSignal.abort());
      const { watches, armed } = (current ??= begin());
      const queue = watches.join(signal);
      await unlessAborted(armed, signal).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
      });
      return queue;
    },

    async close() {
      isClosed = true;
      current?.watches.end();
      await Promise.all(running);
    },
  };
}

function toFailure(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  return unavailable("the source can no longer be watched; try again", cause);
}
