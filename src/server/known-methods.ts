/** Names of methods for figures and traces. */
import { allRevisions } from "../protocol/revisions/index.ts";

/** Returns the name of a method, or "other": callers could make up any number of names. */
export function createMethodNames(): (method: string | undefined) => string {
  const known = new Set(["initialize", "ping", ...allRevisions.flatMap(({ asks }) => [...asks.keys()])]);
  return (method) => (method !== undefined && known.has(method) ? method : "other");
}
