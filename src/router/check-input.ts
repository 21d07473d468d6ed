/** Validates untrusted input against a schema and names the fields that do not match. */
import type { z } from "zod";
import { invalid, quote } from "../errors.ts";
import { describeIssue, meantBranch } from "../lib/describe-issue.ts";

type Issue = z.core.$ZodIssue;

/** Maximum length of the list of problems in one message; `details` has more of them. */
const maxMessageLength = 2000;
const maxFields = 100;

/** Throws "invalid": the message names the fields, and `details.fields` gives the error of each. Values are not repeated. */
export function checkInput<T>(schema: z.ZodType<T>, given: unknown, what: string): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const fields = new Map<string, string>();
  for (const issue of parsed.error.issues) note(issue, [], given, fields);
  const wrong = [...fields];
  let problems = "";
  let named = 0;
  for (const [name, why] of wrong) {
    const problem = `${named === 0 ? "" : "; "}${name === "" ? "it" : quote(name)} ${why}`;
    if (named > 0 && problems.length + problem.length > maxMessageLength) break;
    problems += problem;
    named += 1;
  }
  const more = wrong.length > named ? `; and ${wrong.length - named} more` : "";
  throw invalid(`${what}: ${problems}${more}`, { fields: Object.fromEntries(wrong.slice(0, maxFields)) });
}

function note(issue: Issue, above: readonly PropertyKey[], root: unknown, fields: Map<string, string>): void {
  const path = [...above, ...issue.path];
  const add = (at: readonly PropertyKey[], why: string): void => {
    if (!fields.has(format(at))) fields.set(format(at), why);
  };
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) add([...path, key], "is unknown");
    return;
  }
  if (issue.code === "invalid_union") {
    const meant = meantBranch(issue.errors);
    if (meant.length > 0) {
      for (const each of meant) note(each, path, root, fields);
      return;
    }
  }
  const value = path.reduce<unknown>((each, key) => (each as Record<PropertyKey, unknown> | undefined)?.[key], root);
  add(path, sentence(issue, value));
}

/** Formats a path as in a program: `result.llm_votes[0].provider`. */
function format(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key).slice(0, 80)}`))
    .join("");
}

function sentence(issue: Issue, value: unknown): string {
  return describeIssue(issue, {
    wrongType: (expected) =>
      `${value === undefined ? "is missing; it " : ""}must be ${typeNames[expected] ?? expected}`,
    meant: (name) => `must be a known value; did you mean ${quote(name)}?`,
    given: typeof value === "string" ? value.slice(0, 80) : undefined,
  });
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};
