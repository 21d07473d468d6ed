/** The bus of a server that runs alone: messages stay in the process. */
import { cancelled, shuttingDown } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { Bus, BusMessage } from "./bus.ts";
import { bodyText, checkTopic, fenceDenied } from "./bus-limits.ts";
import { createBusTopics } from "./bus-topics.ts";

export function createMemoryBus(runtime: Pick<Runtime, "log">): Bus {
  const topics = createBusTopics(runtime);
  const fences = new Map<string, number>();
  const waiting: BusMessage[] = [];
  let isDelivering = false;
  let isClosed = false;
  let published = 0;

  /** A subscriber may publish: its message follows after all have received the current one. */
  function deliver(): void {
    if (isDelivering) return;
    isDelivering = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) topics.deliver(next);
    isDelivering = false;
  }

  return {
    async publish(message) {
      if (isClosed) throw shuttingDown();
      const { topic, fence } = message;
      const text = bodyText(message);
      if (fence < (fences.get(topic) ?? 0)) throw fenceDenied(topic);
      if (fence > 0) fences.set(topic, fence);
      published += 1;
      // Parsed: a receiver must not share objects with the sender, as it would not between processes.
      if (topics.has(topic)) waiting.push({ topic, fence, body: JSON.parse(text) });
      deliver();
    },
    async subscribe(topic, subscriber, signal) {
      checkTopic(topic);
      if (isClosed) throw shuttingDown();
      if (signal.aborted) throw cancelled(signal.reason);
      topics.add(topic, subscriber, signal);
    },
    get status() {
      const { gaps, received } = topics;
      return { engine: "memory" as const, isConnected: !isClosed, lag: waiting.length, gaps, published, received };
    },
    async close() {
      isClosed = true;
      topics.clear();
    },
  };
}
