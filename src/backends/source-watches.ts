/** The watches of one source: each gets every change, through a queue of its own. */
import { type CoalescingQueue, createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { SourceChange } from "../source.ts";

export interface SourceWatches {
  readonly size: number;
  tell(changes: readonly SourceChange[]): void;
  /** Active when it returns. Ends with the signal. A reader that falls far behind gets "lost" instead of all changes. */
  join(signal: AbortSignal): CoalescingQueue<SourceChange>;
  /** Ends all of them; their readers get the failure. */
  end(failure?: Error): void;
}

/** `whenEmpty` is called when the last watch has ended. */
export function createSourceWatches(whenEmpty?: () => void, maxQueued = 10_000): SourceWatches {
  const watches = new Map<CoalescingQueue<SourceChange>, () => void>();
  const limit = { max: maxQueued, overflow: { kind: "lost" } as const };

  return {
    get size() {
      return watches.size;
    },
    tell(changes) {
      for (const queue of watches.keys()) queue.pushAll(changes);
    },
    join(signal) {
      const leave = (): void => {
        signal.removeEventListener("abort", leave);
        queue.end();
        if (watches.delete(queue) && watches.size === 0) whenEmpty?.();
      };
      // Changes of one path are merged later, by their order: every one of them waits.
      const queue = createCoalescingQueue<SourceChange>(() => ({}), limit, leave);
      if (signal.aborted) queue.end();
      else {
        watches.set(queue, leave);
        signal.addEventListener("abort", leave);
      }
      return queue;
    },
    end(failure) {
      for (const [queue, leave] of watches) {
        queue.end(failure);
        leave();
      }
    },
  };
}
