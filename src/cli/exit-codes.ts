/** The exit codes of all commands, for the process and the help. */
import { ResourceError } from "../errors.ts";
import { LeftError, UsageError } from "./command.ts";

export const exitCodes = [
  [0, "done"],
  [1, "failed"],
  [2, "invalid usage"],
  [3, "not found, no match, or access denied"],
  [130, "interrupted"],
] as const;

export type ExitCode = (typeof exitCodes)[number][0];

/** `isStopped`: the user asked to stop. */
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
