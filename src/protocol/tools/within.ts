/** Normalises the URI of a directory as models write it. */
import { type NamedMount, rootOf } from "./mounts.ts";

/** A trailing slash means the same directory, unless the mount's root ends with one. */
export function trimSlash(uri: string | undefined, mounts: readonly NamedMount[]): string | undefined {
  const trimmed = uri?.trim();
  if (trimmed === undefined || !trimmed.endsWith("/")) return trimmed;
  return mounts.some(({ base }) => rootOf(base) === trimmed) ? trimmed : trimmed.replace(/(?<!\/)\/+$/, "");
}
