/** What all revisions that begin with `initialize` share; each file beside this one says only what differs from the one before. */
import type { ErrorKind } from "../../errors.ts";
import { codes } from "../message.ts";

/** Results have their own fields and nothing more. */
export const sealNothing = (result: Readonly<Record<string, unknown>>): Record<string, unknown> => result;

/** The numbers that never changed; only "not found" did. */
export function errorCodes(notFoundCode: number): (kind: ErrorKind) => number {
  return (kind) => {
    switch (kind) {
      case "not-found":
      case "denied":
      case "directory":
        return notFoundCode;
      case "invalid":
      case "too-large":
        return codes.params;
      default:
        return codes.internal;
    }
  };
}
