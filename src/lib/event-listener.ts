/** A bounded queue of events for one consumer; on overflow, one item replaces all others. */

export interface EventListener<T> {
  queue: T[];
  /** Called when the queue has an item, or has ended. */
  wake: () => void;
  isOver: boolean;
  failure: Error | undefined;
  readonly ended: PromiseWithResolvers<void>;
}

export function createEventListener<T>(): EventListener<T> {
  return {
    queue: [],
    wake: () => undefined,
    isOver: false,
    failure: undefined,
    ended: Promise.withResolvers<void>(),
  };
}

/** If more than `most` items would wait, `instead` replaces them. */
export function pushEvent<T>(listener: EventListener<T>, items: readonly T[], most: number, instead: T): void {
  if (listener.queue.length + items.length > most) listener.queue = [instead];
  else listener.queue.push(...items);
  listener.wake();
}

/** Drops queued items. */
export function endEventListener(listener: EventListener<unknown>, failure?: Error): void {
  if (listener.isOver) return;
  listener.isOver = true;
  listener.failure = failure;
  listener.queue = [];
  listener.ended.resolve();
  listener.wake();
}

/** For one consumer. Throws the failure with which it was ended; `leave` is always called. */
export async function* eventsOf<T>(listener: EventListener<T>, leave: () => void): AsyncGenerator<T> {
  try {
    while (!listener.isOver) {
      const batch = listener.queue;
      listener.queue = [];
      for (const item of batch) {
        if (listener.isOver) break;
        yield item;
      }
      if (listener.isOver || listener.queue.length > 0) continue;
      await new Promise<void>((resolve) => {
        listener.wake = resolve;
      });
    }
    if (listener.failure) throw listener.failure;
  } finally {
    leave();
  }
}
