/** Looks at a file without failing. */
import { type Stats, statSync } from "node:fs";

/** Undefined for everything that cannot be looked at: absent, forbidden, or not a valid path. Follows links. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
