import { ResourceError } from "../errors.ts";

/** Message for a person; internal errors are hidden. */
export function messageOf(cause: unknown): string {
  return cause instanceof ResourceError ? cause.message : "internal error";
}
