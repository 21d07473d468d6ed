/** One change detector for all watches of a source: the first watch starts it, the last one ends it. */
import { ResourceError, unavailable } from "../errors.ts";
import type { CoalescingQueue } from "../lib/coalescing-queue.ts";
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
  /** As in `SourceWatch`. */
  readonly failure: ResourceError | undefined;
}

/** What the function that detects changes of a backend gets. */
export interface ChangeDetector {
  /** From here on no change is missed. */
  armed(): void;
  tell(changes: readonly SourceChange[]): void;
  /** Says after each attempt why the backend cannot be looked at, if that does not end the watch; undefined when it can again. */
  setFailure(cause: unknown): void;
  readonly signal: AbortSignal;
}

interface Run {
  readonly watches: SourceWatches;
  readonly armed: Promise<void>;
  failure: ResourceError | undefined;
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
    const run: Run = { watches, armed: armed.promise, failure: undefined };
    const setFailure = (cause: unknown): void => {
      run.failure = cause === undefined ? undefined : unavailable("the backend cannot be looked at now", cause);
    };
    const over = look({ signal: stop.signal, armed: armed.resolve, tell: watches.tell, setFailure })
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
      if (signal.aborted || isClosed) return withFailure(createSourceWatches().join(AbortSignal.abort()));
      const run = (current ??= begin());
      const queue = run.watches.join(signal);
      await unlessAborted(run.armed, signal).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
      });
      return withFailure(queue, run);
    },

    async close() {
      isClosed = true;
      current?.watches.end();
      await Promise.all(running);
    },
  };
}

function withFailure(queue: CoalescingQueue<SourceChange>, run?: Run): QueuedChanges {
  const watch: QueuedChanges = {
    next: () => queue.next(),
    return: () => queue.return(),
    [Symbol.asyncIterator]: () => watch,
    get size() {
      return queue.size;
    },
    get failure() {
      return run?.failure;
    },
  };
  return watch;
}

function toFailure(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  return unavailable("the source can no longer be watched; try again", cause);
}
