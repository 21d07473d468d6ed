/** Asks again what was refused in passing: after 1, 2, 4 … 64 seconds, and a little more or less. */
import { ResourceError } from "../../errors.ts";
import type { Runtime } from "../../source.ts";

export interface RetryBudget {
  /** No wait begins that would end later than this after the first try. */
  readonly patienceMs: number;
  /** Told of what goes on being refused, and when it no longer is. */
  readonly trouble?: RetryState | undefined;
}

/** That Drive is away, for those who wait for work that waits for it. */
export interface RetryState {
  tell(cause: ResourceError | undefined): void;
  /** The work, unless it is in trouble, or comes into it. */
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
/** A wait or two is no trouble yet. */
const fewWaits = 2;
/** After the longest wait it is given up. */
const mostWaits = 7;

/** What is thrown in the end says when to come back. Where the answer itself asks for a longer wait, that is kept to. */
export async function withRetries<T>(
  work: () => Promise<T>,
  { patienceMs, trouble }: RetryBudget,
  runtime: Pick<Runtime, "monotonicMs" | "wait">,
  signal: AbortSignal,
): Promise<T> {
  const begunMs = runtime.monotonicMs();
  for (let waits = 0; ; waits += 1) {
    try {
      const done = await work();
      trouble?.tell(undefined);
      return done;
    } catch (cause) {
      if (!(cause instanceof ResourceError) || !cause.passing || signal.aborted) {
        trouble?.tell(undefined);
        throw cause;
      }
      const asked = Number(cause.details?.["retryAfterMs"] ?? 0);
      const ladderMs = Math.min(firstMs * 2 ** waits, longestMs);
      const waitMs = Math.round(Math.max(asked, ladderMs * (0.75 + Math.random() / 2)));
      if (waits >= mostWaits || runtime.monotonicMs() + waitMs - begunMs > patienceMs) throw later(cause, waitMs);
      if (waits >= fewWaits) trouble?.tell(later(cause, waitMs));
      await pause(waitMs, runtime, signal);
    }
  }
}

export async function pause(ms: number, runtime: Pick<Runtime, "wait">, signal: AbortSignal): Promise<void> {
  try {
    await runtime.wait(ms, signal);
  } catch (cause) {
    throw new ResourceError("cancelled", "the question was withdrawn", { cause });
  }
}

/** The work goes on for others when one who waits for it leaves. */
export function until<T>(work: Promise<T>, signal: AbortSignal, says = "the question was withdrawn"): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new ResourceError("cancelled", says));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

function later(cause: ResourceError, retryAfterMs: number): ResourceError {
  const { kind, message, passing } = cause;
  return new ResourceError(kind, message, { passing, cause, details: { retryAfterMs } });
}
