/** Says which sources are watched by one instance for all others. */
import type { Source } from "../source.ts";

/** A source that watches for each caller, or only what is followed, is watched by every instance. */
export function isWatchShared({ watch, watchesPerCaller, follow }: Source): boolean {
  return watch !== undefined && !watchesPerCaller && !follow;
}
