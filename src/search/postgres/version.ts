/** The version of the shared index. */
import { tokenizerVersion } from "../tokens.ts";

/** The first number changes with what the rows mean, and with how texts are cut into passages and get their headings. */
export const indexVersion = `1/${tokenizerVersion}`;

/** Stored while the rows of an older version are removed. Older versions take it for a newer one. */
export const removingVersion = `${indexVersion}/removing`;

/** Whether a stored version is of a newer Pressmark or ICU than this one. Versions are numbers with separators. */
export function isNewerVersion(stored: string, own = indexVersion): boolean {
  const [theirs, ours] = [stored, own].map((version) => version.split(/[/.]/).map(Number)) as [number[], number[]];
  const at = theirs.findIndex((number, index) => number !== (ours[index] ?? -1));
  return at !== -1 && theirs[at]! > (ours[at] ?? -1);
}
