/** Describes schema errors without repeating the value: it may be huge, or a secret. */
import type { z } from "zod";
import { nearest } from "./nearest.ts";

type Issue = z.core.$ZodIssue;

interface Wording {
  /** The text for a value of a wrong type, or a missing one. */
  wrongType(expected: string): string;
  /** The text for a likely intended name. */
  meant(name: string): string;
  /** The value, if it may be compared with the allowed ones. */
  readonly given?: string;
}

export function describeIssue(issue: Issue, { wrongType, meant: intended, given }: Wording): string {
  // A message written in the schema is used unchanged.
  if (!/^(?:Invalid|Too |Unrecognized)/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue.expected);
    case "too_small":
    case "too_big": {
      const [bound, least] =
        issue.code === "too_small" ? [Number(issue.minimum), true] : [Number(issue.maximum), false];
      const unit = issue.origin === "string" ? " characters" : issue.origin === "array" ? " entries" : "";
      if (least && bound === 1 && unit !== "") return "must not be empty";
      const inclusive = issue.inclusive ?? true;
      const border = least ? (inclusive ? "at least" : "more than") : inclusive ? "at most" : "less than";
      return `must ${unit ? "have" : "be"} ${border} ${bound}${unit}`;
    }
    case "invalid_value": {
      const allowed = issue.values.map(String);
      const near = given === undefined ? undefined : nearest(given, allowed);
      if (near) return intended(near);
      return `must be ${allowed.length === 1 ? "" : "one of "}${allowed.map((each) => JSON.stringify(each)).join(", ")}`;
    }
    default:
      return "is not valid here";
  }
}

/** Of the alternatives of a union, the one that the value matched furthest. */
export function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const [intended = []] = branches.toSorted((one, other) => depthOf(other) - depthOf(one));
  return intended;
}

export function depthOf(branch: readonly Issue[]): number {
  return Math.max(0, ...branch.map(({ path }) => path.length));
}
