/** The subscribers of a bus by topic, and the counts of its status. Each engine feeds it with what it receives. */
import type { Runtime } from "../runtime.ts";
import type { BusMessage, BusSubscriber } from "./bus.ts";

export interface BusTopics {
  /** The subscriber receives from now on, until the signal is aborted. */
  add(topic: string, subscriber: BusSubscriber, signal: AbortSignal): void;
  has(topic: string): boolean;
  /** Topics that have subscribers. */
  names(): readonly string[];
  deliver(message: BusMessage): void;
  gap(topic: string): void;
  gapAll(): void;
  readonly gaps: number;
  readonly received: number;
  /** Nobody receives anything afterwards. */
  clear(): void;
}

/** `emptied` is called when the last subscriber of a topic has left. */
export function createBusTopics(runtime: Pick<Runtime, "log">, emptied?: (topic: string) => void): BusTopics {
  const topics = new Map<string, Set<{ readonly subscriber: BusSubscriber }>>();
  let gaps = 0;
  let received = 0;

  function each(topic: string, use: (subscriber: BusSubscriber) => void): void {
    // A copy: a subscriber may add or remove others.
    for (const entry of Array.from(topics.get(topic) ?? [])) {
      if (!topics.get(topic)?.has(entry)) continue;
      try {
        use(entry.subscriber);
      } catch (cause) {
        runtime.log("error", "a subscriber failed while handling a message of the bus", { topic, cause });
      }
    }
  }

  function gap(topic: string): void {
    gaps += 1;
    each(topic, (subscriber) => subscriber.gap(topic));
  }

  return {
    add(topic, subscriber, signal) {
      if (signal.aborted) return;
      // One object per call, so that one subscriber may be added twice.
      const entry = { subscriber };
      const entries = topics.get(topic) ?? new Set();
      topics.set(topic, entries.add(entry));
      signal.addEventListener(
        "abort",
        () => {
          entries.delete(entry);
          if (entries.size > 0 || topics.get(topic) !== entries) return;
          topics.delete(topic);
          emptied?.(topic);
        },
        { once: true },
      );
    },
    has: (topic) => topics.has(topic),
    names: () => [...topics.keys()],
    deliver(message) {
      if (!topics.has(message.topic)) return;
      received += 1;
      each(message.topic, (subscriber) => subscriber.message(message));
    },
    gap,
    gapAll() {
      for (const topic of Array.from(topics.keys())) gap(topic);
    },
    get gaps() {
      return gaps;
    },
    get received() {
      return received;
    },
    clear() {
      topics.clear();
    },
  };
}
