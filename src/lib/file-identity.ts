/** Detects whether a path still leads to the file that was opened there. */
import { type BigIntStats, statSync } from "node:fs";

/** Identifies the file at a path; undefined if there is none. Inode numbers are reused, birth times are not. */
export function fileIdentity(path: string): string | undefined {
  const stats = statOf(path);
  return stats && `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
}

/** Undefined if nothing reachable is there. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
