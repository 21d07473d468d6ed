/** Whatever a source throws leaves its mount as a ResourceError that knows where it comes from. */
import { ResourceError, toResourceError } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import { attempt, callOf, cancelledCall } from "./asked.ts";

export interface ErrorContext {
  readonly mount: string;
  readonly operation: Operation;
}

/**
 * Kept beside the errors, not in their messages: a message may reach the caller, and what is said there of something missing must
 * not differ from what is said of something hidden.
 */
const places = new WeakMap<ResourceError, ErrorContext>();

/** Where an error comes from; undefined for one that no mount threw. */
export function whereOf(error: ResourceError): ErrorContext | undefined {
  return places.get(error);
}

/** An error as the log says it: `not-found: no resource at "2026/q3.csv"  (mount "reports", read)`. Not for callers. */
export function explained(error: ResourceError): string {
  const where = places.get(error);
  const sentence = `${error.kind}: ${error.message}`;
  return where ? `${sentence}  (mount ${JSON.stringify(where.mount)}, ${where.operation})` : sentence;
}

/** A ResourceError stays itself; what ends with the caller's signal is "cancelled"; anything else is "unexpected", its cause kept. */
export function explain(): Layer {
  return (inner, mount) =>
    wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T => {
      const where: ErrorContext = { mount: mount.name, operation };
      const explaining = (...asked: never[]): Promise<unknown> =>
        attempt(ask, asked).catch((cause: unknown) => {
          const error = toError(cause, callOf(asked).signal);
          places.set(error, where);
          throw error;
        });
      return explaining as T;
    });
}

function toError(cause: unknown, signal: AbortSignal): ResourceError {
  if (cause instanceof ResourceError) return cause;
  if (signal.aborted) return cancelledCall(signal);
  const error = toResourceError(cause);
  if (error.kind !== "cancelled") return error;
  // Someone gave up, and it was not the caller: a deadline of the source's own, or of its backend.
  return new ResourceError("unavailable", "the backend did not answer in time; try again", { cause });
}
