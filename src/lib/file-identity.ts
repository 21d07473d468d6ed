/** Tells whether a path still leads to the file that was opened there. */
import { type BigIntStats, statSync } from "node:fs";

/** Which file stands at a path; undefined where none does. Numbers of deleted files are given out again, times of birth are not. */
export function fileIdentity(path: string): string | undefined {
  const stats = statOf(path);
  return stats && `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
}

/** Undefined where nothing is, or nothing that can be reached. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
