/** Refuses parameters of a URL that nothing reads: one that is misspelt would be ignored. */
import { invalid, quote } from "../errors.ts";
import { nearest } from "../lib/nearest.ts";

/** `query` is what follows the `?`. A name is shown only if it cannot be a part of a password with a `?` in it. */
export function checkParameters(setting: string, query: string, known: readonly string[]): void {
  const strange = [...new URLSearchParams(query).keys()].find((name) => !known.includes(name));
  if (strange === undefined) return;
  if (!/^\w{1,40}$/.test(strange) || query.includes("@"))
    throw invalid(`${quote(setting)} has an unknown parameter; known are: ${known.join(", ")}`);
  const meant = nearest(strange, known);
  const advice = meant === undefined ? `known are: ${known.join(", ")}` : `did you mean ${quote(meant)}?`;
  throw invalid(`${quote(setting)} has the unknown parameter ${quote(strange)}; ${advice}`);
}
