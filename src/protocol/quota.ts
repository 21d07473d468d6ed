/** How often one caller may do a thing: short bursts freely, a flood slowly, and it is told so. */
import { ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Caller } from "../resources.ts";

export interface QuotaOptions {
  /** What a caller may do at once after a rest. */
  readonly burst?: number;
  readonly perSecond?: number;
  /** How long a question beyond that is held back before it is refused. */
  readonly maxWaitMs?: number;
  readonly now?: () => number;
}

export interface Quota {
  /** Resolves when the caller may go on with so many; throws "busy" with the time to wait when that would take too long. */
  take(caller: Caller, signal: AbortSignal, amount?: number): Promise<void> | undefined;
}

/** More callers than this are not remembered. */
const maxCallers = 10_000;

export function createQuota({
  burst = 20_000,
  perSecond = 50,
  maxWaitMs = 1000,
  now = monotonicMs,
}: QuotaOptions = {}): Quota {
  const buckets = new Map<string, { left: number; at: number }>();

  function refill(bucket: { left: number; at: number }, time: number): void {
    bucket.left = Math.min(burst, bucket.left + ((time - bucket.at) / 1000) * perSecond);
    bucket.at = time;
  }

  /** Those whose allowance is full again; if there are none, the tenth that came first, or every newcomer would look through all. */
  function forget(time: number): void {
    for (const [id, theirs] of buckets) {
      refill(theirs, time);
      if (theirs.left >= burst) buckets.delete(id);
    }
    for (const id of buckets.keys()) {
      if (buckets.size <= maxCallers * 0.9) return;
      buckets.delete(id);
    }
  }

  function bucketOf(id: string, time: number): { left: number; at: number } {
    let bucket = buckets.get(id);
    if (!bucket) {
      if (buckets.size >= maxCallers) forget(time);
      bucket = { left: burst, at: time };
      buckets.set(id, bucket);
    }
    refill(bucket, time);
    return bucket;
  }

  return {
    take(caller, signal, amount = 1) {
      const bucket = bucketOf(caller.id, now());
      if (bucket.left >= amount) {
        bucket.left -= amount;
        return undefined;
      }
      const waitMs = Math.ceil(((amount - bucket.left) / perSecond) * 1000);
      if (waitMs > maxWaitMs) {
        throw new ResourceError(
          "busy",
          `too many watches begun: at most ${perSecond} a second, try again in ${waitMs} ms`,
          {
            details: { reason: "busy", retryAfterMs: waitMs },
          },
        );
      }
      // Owed, so that those who wait do not all go at once.
      bucket.left -= amount;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          signal.removeEventListener("abort", leave);
          resolve();
        }, waitMs);
        function leave(): void {
          clearTimeout(timer);
          reject(new ResourceError("cancelled", "the question was withdrawn"));
        }
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
