/** Converts whatever a source throws into a ResourceError, and records the mount and operation of each. */
import { cancelled, ResourceError, toResourceError, unavailable } from "../errors.ts";
import { wrapSource } from "../layer.ts";
import type { Layer, Operation } from "../layer.ts";
import { attempt, callOf } from "./own-call.ts";

interface ErrorContext {
  readonly mount: string;
  readonly operation: Operation;
}

/**
 * Stored beside the errors, not in their messages: a message may reach the caller, and the message for a missing resource must
 * equal the message for a hidden one.
 */
const contexts = new WeakMap<ResourceError, ErrorContext>();

/** Returns the mount and operation that threw an error; undefined if no mount threw it. */
export function whereOf(error: ResourceError): ErrorContext | undefined {
  return contexts.get(error);
}

/** Formats an error for the log: `not-found: no resource at "2026/q3.csv"  (mount "reports", read)`. Not for callers. */
export function explained(error: ResourceError): string {
  const where = contexts.get(error);
  const sentence = `${error.kind}: ${error.message}`;
  return where ? `${sentence}  (mount ${JSON.stringify(where.mount)}, ${where.operation})` : sentence;
}

/** A ResourceError is unchanged; an error after the caller has left is "cancelled"; any other is "unexpected" with its cause. */
export function explain(): Layer {
  return (inner, mount) =>
    wrapSource(inner, (operation, method) => {
      const where: ErrorContext = { mount: mount.name, operation };
      return (...args) =>
        attempt(method, args).catch((cause: unknown) => {
          const error = toError(cause, callOf(args).signal);
          contexts.set(error, where);
          throw error;
        });
    });
}

function toError(cause: unknown, signal: AbortSignal): ResourceError {
  if (cause instanceof ResourceError) return cause;
  if (signal.aborted) return cancelled(signal.reason);
  const error = toResourceError(cause);
  if (error.kind !== "cancelled") return error;
  // Aborted, but not by the caller: a time limit of the source or of its backend.
  return unavailable("the backend did not respond in time; try again", cause);
}
