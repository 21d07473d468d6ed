/** The URI of a directory, as models write it. */
import { type NamedMount, rootOf } from "./mounts.ts";

/** A slash at the end means the same directory, unless the mount itself is spelled so. */
export function trimSlash(uri: string | undefined, mounts: readonly NamedMount[]): string | undefined {
  const trimmed = uri?.trim();
  if (trimmed === undefined || !trimmed.endsWith("/")) return trimmed;
  return mounts.some(({ base }) => rootOf(base) === trimmed) ? trimmed : trimmed.replace(/(?<!\/)\/+$/, "");
}
