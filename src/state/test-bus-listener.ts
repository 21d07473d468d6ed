/** A subscriber that keeps what it received, and lets a test wait for it. */
import { expect, vi } from "vitest";
import type { Bus, BusMessage, BusSubscriber } from "./bus.ts";

export interface BusListener extends BusSubscriber {
  /** Bodies, and "gap" for each gap. */
  readonly seen: unknown[];
  readonly messages: BusMessage[];
  readonly stop: AbortController;
  /** Resolves when the body has arrived. */
  until(body: unknown): Promise<void>;
  untilGap(): Promise<void>;
}

export async function listenTo(bus: Bus, topic: string): Promise<BusListener> {
  const listener = createListener();
  await bus.subscribe(topic, listener, listener.stop.signal);
  return listener;
}

export function createListener(): BusListener {
  const seen: unknown[] = [];
  const messages: BusMessage[] = [];
  const holds = (item: unknown) =>
    vi.waitFor(() => expect(seen).toContainEqual(item), { timeout: 40_000, interval: 5 });
  return {
    seen,
    messages,
    stop: new AbortController(),
    message(message) {
      messages.push(message);
      seen.push(message.body);
    },
    gap: () => void seen.push("gap"),
    until: holds,
    untilGap: () => holds("gap"),
  };
}

/** Publishes until it is acknowledged, and returns how often that was tried. */
export async function publishSurely(bus: Bus, topic: string, body: unknown, fence = 0): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const isStored = await bus.publish({ topic, body, fence }).then(
      () => true,
      () => false,
    );
    if (isStored || tries === 20) return tries;
  }
}

/**
 * Every acknowledged number was received, or a gap came at its place or later; none came twice, and all in ascending order. What was published
 * without an acknowledgement may have arrived or not.
 */
export function expectNothingSilent(seen: readonly unknown[], acknowledged: readonly number[]): void {
  const received = seen.filter((item) => typeof item === "number");
  expect(received).toEqual([...new Set(received)].sort((a, b) => a - b));
  const missing = acknowledged.filter((number) => !received.includes(number));
  const silent = missing.filter((number) => {
    const before = seen.findLastIndex((item) => typeof item === "number" && item < number);
    return !seen.slice(before + 1).includes("gap");
  });
  expect({ silent, seen: silent.length > 0 ? seen : [] }).toEqual({ silent: [], seen: [] });
}
