/** Limits the concurrent calls to one mount: further calls wait in a queue that is fair between clients, or fail with "busy". */
import { cancelled, ResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Layer } from "../layer.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { createFairQueue } from "../lib/fair-queue.ts";
import { attempt, callOf } from "./own-call.ts";

export interface LimitOptions {
  /** Maximum number of concurrent calls to the source. One client gets at most three quarters of them. */
  readonly maxAtOnce?: number;
  /** Maximum number of waiting calls. */
  readonly maxWaiting?: number;
  /** A call that has run for this long counts as abandoned; its slot is given away when one is needed. */
  readonly abandonedMs?: number;
  readonly now?: () => number;
}

/**
 * A rejected call gets "busy" with `retryAfterMs`. A call keeps its slot until the source has settled it, so that a source
 * which ignores its signal is not overloaded.
 */
export function limit({
  maxAtOnce = 64,
  maxWaiting = 1024,
  abandonedMs = 120_000,
  now = monotonicMs,
}: LimitOptions = {}): Layer {
  return (inner) => {
    const queue = createFairQueue({ maxAtOnce, maxWaiting, abandonedMs, now, busy, cancelled });
    return wrapSource(inner, (operation, method) => {
      // An action may wait for another call: if it held a slot, both could wait for ever.
      if (operation === "act") return method;
      return (...args) => {
        const call = callOf(args);
        return queue.run(call.client ?? call.caller, call, () => attempt(method, args));
      };
    });
  };
}

function busy(retryAfterMs: number): ResourceError {
  return new ResourceError("busy", `too many requests; retry in ${retryAfterMs} ms`, {
    passing: true,
    details: { retryAfterMs },
  });
}
