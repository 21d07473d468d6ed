/** Retries calls that failed with a passing error. */
import { cancelled, ResourceError, retryAfterOf } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer } from "../layer.ts";
import type { Runtime } from "../source.ts";
import { attempt, callOf } from "./own-call.ts";
import { timeLimit, type TimeoutOptions } from "./timeout.ts";

/** No attempt begins after the deadline of the timeout layer. */
export interface RetryOptions extends Pick<TimeoutOptions, "timeoutMs"> {
  /** Maximum number of attempts, including the first. */
  readonly attempts?: number;
  /** Longest wait before the second attempt; doubles for each further one. */
  readonly firstDelayMs?: number;
  /** No attempt begins later than this after the first. */
  readonly withinMs?: number;
}

/**
 * Retries passing errors only; never "busy", and none that says when to retry: the caller decides. Operations that read may be
 * repeated without harm; actions and tools may not, and whoever holds a watch restarts it. Stops when the signal is aborted.
 */
export function retry(
  runtime: Pick<Runtime, "monotonicMs" | "wait">,
  { attempts = 3, firstDelayMs = 100, withinMs = 10_000, timeoutMs }: RetryOptions = {},
): Layer {
  async function again(
    method: OperationMethod,
    args: readonly never[],
    untilMs: number,
    first: ResourceError,
  ): Promise<unknown> {
    const { signal } = callOf(args);
    let failure = first;
    for (let delayMs = firstDelayMs, attempted = 1; attempted < attempts; delayMs *= 2, attempted += 1) {
      const waitMs = delayMs * (0.5 + Math.random() / 2);
      if (runtime.monotonicMs() + waitMs >= untilMs) break;
      try {
        await runtime.wait(waitMs, signal);
      } catch {
        throw cancelled(signal.reason);
      }
      try {
        return await attempt(method, args);
      } catch (cause) {
        if (!isPassing(cause)) throw cause;
        failure = cause;
      }
    }
    throw failure;
  }

  return (inner) =>
    wrapSource(inner, (operation, method) => {
      if (operation === "watch" || operation === "act" || operation === "relay") return method;
      const mostMs = Math.min(withinMs, timeLimit(inner, operation, timeoutMs));
      return (...args) => {
        const untilMs = runtime.monotonicMs() + mostMs;
        return attempt(method, args).catch((cause: unknown) => {
          if (!isPassing(cause)) throw cause;
          return again(method, args, untilMs, cause);
        });
      };
    });
}

function isPassing(cause: unknown): cause is ResourceError {
  return cause instanceof ResourceError && cause.passing && cause.kind !== "busy" && retryAfterOf(cause) === undefined;
}
