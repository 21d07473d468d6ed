/** The error for a caller that the config does not name. */
import { quote, ResourceError } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";

export function unknownCaller(name: string, callers: readonly string[]): ResourceError {
  const meant = nearest(name, callers);
  const advice = meant === undefined ? "add it to the config, under callers" : `did you mean ${quote(meant)}?`;
  return new ResourceError("not-found", `the config has no caller ${quote(name)}; ${advice}`);
}
