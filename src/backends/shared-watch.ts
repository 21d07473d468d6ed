/** One change detector for all watches of a source: the first watch starts it, the last one ends it. */
import { ResourceError } from "../errors.ts";
import {
  createEventListener,
  endEventListener,
  eventsOf,
  type EventListener,
  pushEvent,
} from "../lib/event-listener.ts";
import type { SourceChange } from "../source.ts";

export interface SharedWatch {
  /** Resolves when the watch is active. Ends with the signal; throws if changes can no longer be detected. */
  watch(signal: AbortSignal): Promise<AsyncIterable<SourceChange>>;
  /** Nothing runs after it resolves. */
  close(): Promise<void>;
}

export interface DatabaseWatch {
  /** From here on no change is missed. */
  armed(): void;
  tell(changes: readonly SourceChange[]): void;
  readonly signal: AbortSignal;
}

interface Run {
  readonly listeners: Set<EventListener<SourceChange>>;
  readonly stop: AbortController;
  readonly armed: Promise<void>;
}

/** Beyond this many queued changes, one general change replaces them. */
const maxQueued = 10_000;
const lost: SourceChange = { kind: "lost" };

/** `look` runs until the signal ends, or throws when it cannot continue. */
export function createSharedWatch(look: (detector: DatabaseWatch) => Promise<void>): SharedWatch {
  let current: Run | undefined;
  let isClosed = false;
  /** Detectors that may still be running. */
  const running = new Set<Promise<void>>();

  function begin(): Run {
    const listeners = new Set<EventListener<SourceChange>>();
    const stop = new AbortController();
    const { promise: armed, resolve, reject } = Promise.withResolvers<void>();
    // Waiting callers receive the error; there may be none.
    armed.catch(() => undefined);
    const over = look({
      signal: stop.signal,
      armed: resolve,
      tell: (changes) => {
        for (const listener of listeners) pushEvent(listener, changes, maxQueued, lost);
      },
    })
      .catch((cause: unknown) => {
        if (current?.listeners === listeners) current = undefined;
        const failure = stop.signal.aborted ? undefined : toFailure(cause);
        for (const listener of listeners) endEventListener(listener, failure);
        listeners.clear();
        reject(failure ?? cause);
      })
      .finally(() => running.delete(over));
    running.add(over);
    return { listeners, stop, armed };
  }

  return {
    async watch(signal) {
      const listener = createEventListener<SourceChange>();
      if (signal.aborted || isClosed) {
        endEventListener(listener);
        return eventsOf(listener, () => undefined);
      }
      const run = (current ??= begin());
      run.listeners.add(listener);
      const leave = (): void => {
        signal.removeEventListener("abort", leave);
        endEventListener(listener);
        if (!run.listeners.delete(listener) || run.listeners.size > 0) return;
        if (current === run) current = undefined;
        run.stop.abort();
      };
      signal.addEventListener("abort", leave);
      await Promise.race([run.armed, listener.ended.promise]).catch(() => undefined);
      // A failure ends the listener first.
      if (listener.failure) {
        leave();
        throw listener.failure;
      }
      return eventsOf(listener, leave);
    },

    async close() {
      isClosed = true;
      if (current) {
        for (const listener of current.listeners) endEventListener(listener);
        current.listeners.clear();
        current.stop.abort();
        current = undefined;
      }
      await Promise.all(running);
    },
  };
}

function toFailure(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  return new ResourceError("unavailable", "the source can no longer be watched; try again", { cause });
}
