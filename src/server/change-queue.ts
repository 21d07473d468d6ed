/** The watch of a built-in source: changes that were pushed, each once, until the signal is aborted. */
import { type CoalescingQueue, createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { SourceChange } from "../source.ts";

export function createChangeQueue(signal: AbortSignal): CoalescingQueue<SourceChange> {
  const queue = createCoalescingQueue<SourceChange>((change) => JSON.stringify(change));
  const end = () => void queue.return();
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return queue;
}
