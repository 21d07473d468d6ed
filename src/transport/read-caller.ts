/** Checks and copies what an app says about a caller. */
import { type Caller, callerKey } from "../resources.ts";

const copies = new WeakMap<object, Caller>();

/**
 * Undefined for a stranger. Throws a TypeError for anything without an id. A copy by name: an app may reuse one object for several
 * callers, whose sessions must not mix, and a spread would lose accessors of a class. An unchanged object gives the same copy, so that
 * what is remembered for a caller is found again.
 */
export function readCaller(given: Caller | null | undefined): Caller | undefined {
  if (given === undefined || given === null) return undefined;
  const { id, groups, scopes, claims, ended, owner } = given;
  if (typeof id !== "string" || id === "")
    throw new TypeError("the caller of a request has no id; set caller.id to a text that names one user");
  const caller: Caller = {
    id,
    ...(groups && { groups: namesIn("groups", groups) }),
    ...(scopes && { scopes: namesIn("scopes", scopes) }),
    ...(claims && { claims: { ...claims } }),
    ...(ended && { ended }),
    ...(given.subjectToken && { subjectToken: (issuer) => given.subjectToken?.(issuer) }),
    ...(owner === true && { owner }),
  };
  const known = copies.get(given);
  if (known && known.ended === ended && callerKey(known) === callerKey(caller)) return known;
  copies.set(given, caller);
  return caller;
}

function namesIn(member: "groups" | "scopes", names: readonly string[]): readonly string[] {
  if (!Array.isArray(names)) throw new TypeError(`caller.${member} of a request is no list; set it to a list of texts`);
  return [...(names as readonly string[])];
}
