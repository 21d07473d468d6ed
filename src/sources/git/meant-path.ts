/** Finds the address that was meant by one in which the slashes of a branch or tag are not written as `%2F`. */
import { pathOf, segmentsOf } from "../../source.ts";

const withRefs: ReadonlySet<string> = new Set(["blob", "tree", "blame", "commit", "diff"]);

/** Whether an address has a form in which a name may be written with plain slashes. */
export function mayMeanAnother(path: string): boolean {
  const [kind = "", ...rest] = segmentsOf(path);
  return withRefs.has(kind) && rest.length >= 2;
}

/** Undefined if no such name is known, or if the address has no such form. */
export function meantPath(path: string, names: readonly string[]): string | undefined {
  const [kind = "", ...rest] = segmentsOf(path);
  const nested = new Set(names.filter((name) => name.includes("/")));
  if (!mayMeanAnother(path) || nested.size === 0) return undefined;
  if (kind === "diff") return meantDiff(rest, nested);
  for (let length = kind === "commit" ? rest.length : 2; length <= rest.length; length += 1) {
    const ref = rest.slice(0, length).join("/");
    if (nested.has(withoutSteps(ref))) return pathOf([kind, ref, ...rest.slice(length)]);
  }
  return undefined;
}

/** Two refs, of which at least one has a slash; or a range of two. */
function meantDiff(rest: readonly string[], nested: ReadonlySet<string>): string | undefined {
  const whole = rest.join("/");
  const isRange = whole.includes("..") && whole.split(/\.{2,3}/).some((ref) => nested.has(withoutSteps(ref)));
  if (isRange) return pathOf(["diff", whole]);
  for (let length = 1; length < rest.length; length += 1) {
    const sides = [rest.slice(0, length), rest.slice(length)];
    const refs = sides.map((side) => side.join("/"));
    const isKnown = sides.every((side, index) => side.length === 1 || nested.has(withoutSteps(refs[index]!)));
    if (rest.length > 2 && isKnown) return pathOf(["diff", ...refs]);
  }
  return undefined;
}

/** `feature/x~2` begins at `feature/x`. */
function withoutSteps(ref: string): string {
  const steps = ref.search(/[~^]/);
  return steps < 0 ? ref : ref.slice(0, steps);
}
