/** Names of tools and prompts of mounts: `<mount>_<name>`, or `<name>` for those of the program itself; valid and unique. */
import { createHash } from "node:crypto";
import type { RelayedName } from "../resources.ts";

/** Some hosts refuse longer names. */
const maxNameLength = 64;
/** Long enough that no server finds a name with the hash of another. */
const hashLength = 16;
const hashed = /-[0-9a-f]{16}$/;

/**
 * The same tool or prompt has the same name in every list of a caller, whichever mounts can be reached: if the exact name could be
 * of several mounts, it is of the one with the longest name.
 */
export function toRelayedName({ mount, name, mounts = [], isOwn }: RelayedName, taken: ReadonlySet<string>): string {
  const isFree = (wanted: string) => isValid(wanted) && !taken.has(wanted);
  if (isOwn && isFree(name) && !mounts.some((other) => other !== mount && name.startsWith(`${other}_`))) return name;
  const exact = `${mount}_${name}`;
  const isOfOther = mounts.some((other) => other.length > mount.length && exact.startsWith(`${other}_`));
  if (isFree(exact) && !isOfOther) return exact;
  const hash = createHash("sha256")
    .update(JSON.stringify([mount, name]))
    .digest("hex");
  const readable = exact.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").slice(0, maxNameLength - hashLength - 1);
  return `${readable}-${hash.slice(0, hashLength)}`;
}

function isValid(name: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(name) && name.length <= maxNameLength && !hashed.test(name);
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
