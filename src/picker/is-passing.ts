import { ResourceError } from "../errors.ts";

/** True if the same request may succeed later, for example when the server responds again. */
export function isPassing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.passing;
}
