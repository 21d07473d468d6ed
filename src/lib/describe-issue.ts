/** What a schema finds wrong with a value, in words that never repeat the value: it may be huge, or a secret. */
import type { z } from "zod";
import { nearest } from "./nearest.ts";

type Issue = z.core.$ZodIssue;

export interface Wording {
  /** What is said of a value of another type than this, or of none. */
  wrongType(expected: string): string;
  /** What is said where this name was perhaps meant. */
  meant(name: string): string;
  /** The value, where it may be compared with what is allowed. */
  readonly given?: string | undefined;
}

export function describeIssue(issue: Issue, { wrongType, meant, given }: Wording): string {
  // What a schema says in words of its own is what is to be said.
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
      if (near) return meant(near);
      return `must be ${allowed.length === 1 ? "" : "one of "}${allowed.map((each) => JSON.stringify(each)).join(", ")}`;
    }
    default:
      return "is not what may stand here";
  }
}

/** Of the ways in which a value could have fitted, the one that it got furthest with: it is what was meant. */
export function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const [meant = []] = branches.toSorted((one, other) => depthOf(other) - depthOf(one));
  return meant;
}

export function depthOf(branch: readonly Issue[]): number {
  return Math.max(0, ...branch.map(({ path }) => path.length));
}
