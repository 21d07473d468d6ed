/** One who listens to what others tell, at a pace of their own: what comes meanwhile waits, and too much of it is one thing instead. */

export interface EventListener<T> {
  queue: T[];
  /** Called when there is something in the queue, or nothing more to come. */
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

/** Who is so far behind that more than `most` would wait is told `instead`. */
export function pushEvent<T>(listener: EventListener<T>, items: readonly T[], most: number, instead: T): void {
  if (listener.queue.length + items.length > most) listener.queue = [instead];
  else listener.queue.push(...items);
  listener.wake();
}

/** What still waits is dropped. */
export function endEventListener(listener: EventListener<unknown>, failure?: Error): void {
  if (listener.isOver) return;
  listener.isOver = true;
  listener.failure = failure;
  listener.queue = [];
  listener.ended.resolve();
  listener.wake();
}

/** For one consumer. Throws what it was ended with; `leave` is called in any case. */
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
