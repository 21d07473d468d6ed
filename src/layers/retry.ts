/** Asks again what failed in passing. */
import { ResourceError, retryAfterOf } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import type { Runtime } from "../source.ts";
import { attempt, callOf, cancelledCall } from "./asked.ts";
import { timeLimit, type TimeoutOptions } from "./timeout.ts";

/** Behind the deadline of the timeout layer no attempt begins, either. */
export interface RetryOptions extends Pick<TimeoutOptions, "timeoutMs"> {
  /** How often a question is asked at most, the first time included. */
  readonly attempts?: number;
  /** The longest wait before the second attempt; it doubles from there. */
  readonly firstDelayMs?: number;
  /** No attempt begins later than this after the first. */
  readonly withinMs?: number;
}

/**
 * Only passing faults, and of these not "busy" and none that says when to come back: the caller is told. Every question
 * may be asked twice without harm; what is done may not be done twice, and a watch is left to those who keep it. Gives up when the signal
 * ends.
 */
export function retry(
  runtime: Pick<Runtime, "monotonicMs" | "wait">,
  { attempts = 3, firstDelayMs = 100, withinMs = 10_000, timeoutMs }: RetryOptions = {},
): Layer {
  async function again(
    ask: OperationMethod,
    asked: readonly never[],
    untilMs: number,
    first: ResourceError,
  ): Promise<unknown> {
    const { signal } = callOf(asked);
    let failure = first;
    for (let delayMs = firstDelayMs, attempted = 1; attempted < attempts; delayMs *= 2, attempted += 1) {
      const waitMs = delayMs * (0.5 + Math.random() / 2);
      if (runtime.monotonicMs() + waitMs >= untilMs) break;
      try {
        await runtime.wait(waitMs, signal);
      } catch {
        throw cancelledCall(signal);
      }
      try {
        return await attempt(ask, asked);
      } catch (cause) {
        if (!isPassing(cause)) throw cause;
        failure = cause;
      }
    }
    throw failure;
  }

  return (inner) =>
    wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T => {
      if (operation === "watch" || operation === "act") return ask;
      const mostMs = Math.min(withinMs, timeLimit(inner, operation, timeoutMs));
      const retrying = (...asked: never[]): Promise<unknown> => {
        const untilMs = runtime.monotonicMs() + mostMs;
        return attempt(ask, asked).catch((cause: unknown) => {
          if (!isPassing(cause)) throw cause;
          return again(ask, asked, untilMs, cause);
        });
      };
      return retrying as T;
    });
}

function isPassing(cause: unknown): cause is ResourceError {
  return cause instanceof ResourceError && cause.passing && cause.kind !== "busy" && retryAfterOf(cause) === undefined;
}
