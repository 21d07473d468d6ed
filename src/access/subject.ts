/** Names of callers in rules and quotas. */
import type { Caller } from "../resources.ts";

/** "anyone", "caller:NAME", "group:NAME", "scope:NAME" or "claim:NAME=VALUE". */
export type Subject = string;

export function isMeant(subject: Subject, { id, groups = [], scopes = [], claims = {} }: Caller): boolean {
  if (subject === "anyone") return true;
  const colon = subject.indexOf(":");
  const [kind, name] = [subject.slice(0, colon), subject.slice(colon + 1)];
  switch (kind) {
    case "caller":
      return id === name;
    case "group":
      return groups.includes(name);
    case "scope":
      return scopes.includes(name);
    case "claim": {
      const equals = name.indexOf("=");
      const value = claims[name.slice(0, equals)];
      const wanted = name.slice(equals + 1);
      return Array.isArray(value) ? value.includes(wanted) : value === wanted;
    }
    default:
      return false;
  }
}
