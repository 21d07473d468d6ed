/** At most so many questions at once to one mount; the next ones wait, client by client, and those that would wait too long are sent away. */
import { ResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { createFairQueue } from "../lib/fair-queue.ts";
import { attempt, callOf, cancelledCall } from "./asked.ts";

export interface LimitOptions {
  /** How many questions are asked of the source at once. One client has three quarters of these places at most. */
  readonly maxAtOnce?: number;
  /** How many more may wait for their turn. */
  readonly maxWaiting?: number;
  /** A question that has been under way for this long has been given up by everyone; it makes room when room is needed. */
  readonly abandonedMs?: number;
  readonly now?: () => number;
}

/**
 * Who is sent away gets "busy" with `retryAfterMs`. A question keeps its place until the source has settled it, so that a source
 * which ignores its signal is not overrun.
 */
export function limit({
  maxAtOnce = 64,
  maxWaiting = 1024,
  abandonedMs = 120_000,
  now = monotonicMs,
}: LimitOptions = {}): Layer {
  return (inner) => {
    const queue = createFairQueue({ maxAtOnce, maxWaiting, abandonedMs, now, busy, cancelled: cancelledCall });
    return wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T => {
      // Who waits for what another will do must not keep that other from doing it.
      if (operation === "act") return ask;
      const limited = (...asked: never[]): Promise<unknown> => {
        const call = callOf(asked);
        return queue.run(call.client ?? call.caller, call, () => attempt(ask, asked));
      };
      return limited as T;
    });
  };
}

function busy(retryAfterMs: number): ResourceError {
  return new ResourceError("busy", `too much is going on here; come back in ${retryAfterMs} ms`, {
    passing: true,
    details: { retryAfterMs },
  });
}
