/** Shared by all revisions that begin with `initialize`; each revision's file contains only what differs from the previous one. */
import type { ErrorKind } from "../../errors.ts";
import { codes } from "../message.ts";

/** Adds nothing to results. */
export const sealNothing = (result: Readonly<Record<string, unknown>>): Record<string, unknown> => result;

/** Error codes; only "not found" differs between revisions. */
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
