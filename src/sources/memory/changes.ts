/** Watches of the memory source. */
import type { SourceChange } from "../../source.ts";

export interface MemoryWatch {
  hear(change: SourceChange): void;
  end(): void;
}

const maxQueuedChanges = 10_000;

/** Armed when it returns. A reader that falls far behind gets "lost" instead of all changes. */
export function startWatch(watches: Set<MemoryWatch>, signal: AbortSignal): AsyncIterable<SourceChange> {
  let queue: SourceChange[] = [];
  let wake: (() => void) | undefined;
  const watch: MemoryWatch = {
    hear(change) {
      if (queue.length >= maxQueuedChanges) queue = [{ kind: "lost" }];
      else if (queue[0]?.kind !== "lost") queue.push(change);
      wake?.();
    },
    end() {
      watches.delete(watch);
      signal.removeEventListener("abort", watch.end);
      queue = [];
      wake?.();
    },
  };
  if (!signal.aborted) {
    watches.add(watch);
    signal.addEventListener("abort", watch.end);
  }
  return {
    async *[Symbol.asyncIterator]() {
      try {
        while (watches.has(watch)) {
          const batch = queue;
          queue = [];
          for (const change of batch) {
            if (!watches.has(watch)) return;
            yield change;
          }
          if (queue.length > 0 || !watches.has(watch)) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        watch.end();
      }
    },
  };
}
