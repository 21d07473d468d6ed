/** Retries requests that failed temporarily: after 1, 2, 4 … 64 seconds, with jitter. */
import { cancelled, ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";

export interface RetryBudget {
  /** No delay starts that would end later than this after the first attempt. */
  readonly patienceMs: number;
  /** Receives repeated failures, and their end. */
  readonly retryState?: RetryState;
}

/** Whether Drive is unavailable, for callers that wait for background work. */
export interface RetryState {
  tell(cause: ResourceError | undefined): void;
  /** Resolves with the work; rejects if Drive is or becomes unavailable. */
  unless<T>(work: Promise<T>): Promise<T>;
}

export function createRetryState(): RetryState {
  let known: ResourceError | undefined;
  const waiting = new Set<(cause: ResourceError) => void>();
  return {
    tell(cause) {
      known = cause;
      if (cause) for (const leave of waiting) leave(cause);
    },
    unless: (work) =>
      new Promise((resolve, reject) => {
        waiting.add(reject);
        work.then(resolve, reject).finally(() => waiting.delete(reject));
        if (known) reject(known);
      }),
  };
}

const firstMs = 1000;
const longestMs = 64_000;
/** One or two delays do not yet count as unavailable. */
const fewWaits = 2;
/** After the longest delay it gives up. */
const mostWaits = 7;

/** The final error says when to try again. A longer delay requested by Drive is respected. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { patienceMs, retryState }: RetryBudget,
  runtime: Pick<Runtime, "monotonicMs" | "wait">,
  signal: AbortSignal,
): Promise<T> {
  const begunMs = runtime.monotonicMs();
  for (let waits = 0; ; waits += 1) {
    try {
      const done = await work();
      retryState?.tell(undefined);
      return done;
    } catch (cause) {
      if (!(cause instanceof ResourceError) || !cause.passing || signal.aborted) {
        retryState?.tell(undefined);
        throw cause;
      }
      const requested = Number(cause.details?.["retryAfterMs"] ?? 0);
      const ladderMs = Math.min(firstMs * 2 ** waits, longestMs);
      const waitMs = Math.round(Math.max(requested, ladderMs * (0.75 + Math.random() / 2)));
      if (waits >= mostWaits || runtime.monotonicMs() + waitMs - begunMs > patienceMs) throw later(cause, waitMs);
      if (waits >= fewWaits) retryState?.tell(later(cause, waitMs));
      await pause(waitMs, runtime, signal);
    }
  }
}

export async function pause(ms: number, runtime: Pick<Runtime, "wait">, signal: AbortSignal): Promise<void> {
  try {
    await runtime.wait(ms, signal);
  } catch (cause) {
    throw cancelled(cause);
  }
}

function later(cause: ResourceError, retryAfterMs: number): ResourceError {
  const { kind, message, passing } = cause;
  return new ResourceError(kind, message, { passing, cause, details: { retryAfterMs } });
}
