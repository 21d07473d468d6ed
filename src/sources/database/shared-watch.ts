/** One look-out for all who watch a source: the first starts it, the last ends it. */
import { ResourceError } from "../../errors.ts";
import {
  createEventListener,
  endEventListener,
  eventsOf,
  type EventListener,
  pushEvent,
} from "../../lib/event-listener.ts";
import type { SourceChange } from "../../source.ts";

export interface SharedWatch {
  /** Resolves once armed. Ends with the signal; throws when the look-out cannot go on. */
  watch(signal: AbortSignal): Promise<AsyncIterable<SourceChange>>;
  /** Afterwards nothing runs. */
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

/** A reader this far behind, or so many changes at once, are told as one: look again. */
const maxQueued = 10_000;
const lost: SourceChange = { kind: "lost" };

/** `look` goes on until the signal ends and nothing of it is left, or throws when it cannot go on. */
export function createSharedWatch(look: (lookOut: DatabaseWatch) => Promise<void>): SharedWatch {
  let current: Run | undefined;
  let isClosed = false;
  /** Every look-out of which something may be left. */
  const running = new Set<Promise<void>>();

  function begin(): Run {
    const listeners = new Set<EventListener<SourceChange>>();
    const stop = new AbortController();
    const { promise: armed, resolve, reject } = Promise.withResolvers<void>();
    // Whoever waits for it hears of it; there may be no one.
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
