/** Watches of a source that learns of its changes by itself, such as one in memory. */
import { createEventListener, endEventListener, eventsOf, pushEvent } from "../lib/event-listener.ts";
import type { SourceChange } from "../source.ts";

export interface WatchListener {
  hear(change: SourceChange): void;
  end(): void;
}

const maxQueuedChanges = 10_000;

/** Armed when it returns. A reader that falls far behind gets "lost" instead of all changes. */
export function startWatch(watches: Set<WatchListener>, signal: AbortSignal): AsyncIterable<SourceChange> {
  const listener = createEventListener<SourceChange>();
  const watch: WatchListener = {
    hear: (change) => pushEvent(listener, [change], maxQueuedChanges, { kind: "lost" }),
    end() {
      watches.delete(watch);
      signal.removeEventListener("abort", watch.end);
      endEventListener(listener);
    },
  };
  if (signal.aborted) endEventListener(listener);
  else {
    watches.add(watch);
    signal.addEventListener("abort", watch.end);
  }
  return eventsOf(listener, watch.end);
}
