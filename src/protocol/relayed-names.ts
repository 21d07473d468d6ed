/** Names of tools and prompts of other servers: `<mount>_<name>`, valid and unique. */
import { createHash } from "node:crypto";
import type { RelayedName } from "../resources.ts";

/** Some hosts refuse longer names. */
const maxNameLength = 64;
const hashLength = 8;

/** The same tool or prompt has the same name in every list, unless two exact names are equal: then the later one gets another. */
export function toRelayedName(what: RelayedName, taken: ReadonlySet<string>): string {
  const exact = `${what.mount}_${what.name}`;
  if (/^[A-Za-z0-9_.-]+$/.test(exact) && exact.length <= maxNameLength && !taken.has(exact)) return exact;
  const hash = createHash("sha256")
    .update(JSON.stringify([what.mount, what.name]))
    .digest("hex");
  const readable = exact.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").slice(0, maxNameLength - hashLength - 1);
  return `${readable}-${hash.slice(0, hashLength)}`;
}

/** Pairs each with its name. Leaves out what has no free name. */
export function nameAll<T extends RelayedName>(
  all: readonly T[],
  taken: Iterable<string>,
): readonly (readonly [string, T])[] {
  const names = new Set(taken);
  return all.flatMap((each) => {
    const name = toRelayedName(each, names);
    if (names.has(name)) return [];
    names.add(name);
    return [[name, each] as const];
  });
}
