/** What a command's exit code says, for the process and for the help alike. */
import { ResourceError } from "../errors.ts";
import { LeftError, UsageError } from "./command.ts";

export const exitCodes = [
  [0, "done"],
  [1, "failed"],
  [2, "asked in a way it cannot be"],
  [3, "not found: nothing is there, or nothing that may be seen"],
  [130, "interrupted before it was done"],
] as const;

export type ExitCode = (typeof exitCodes)[number][0];

/** `isStopped` says whether the person asked to stop. */
export function exitCodeOf(cause: unknown, isStopped: boolean): ExitCode {
  if (cause instanceof UsageError) return 2;
  if (cause instanceof LeftError) return 130;
  if (!(cause instanceof ResourceError)) return isStopped ? 130 : 1;
  switch (cause.kind) {
    case "cancelled":
      return isStopped ? 130 : 1;
    case "invalid":
      return 2;
    case "not-found":
    case "denied":
      return 3;
    default:
      return 1;
  }
}
