/** Reads ignore files, and caches them until they change. */
import type { BigIntStats } from "node:fs";
import { Lru } from "../../lib/lru.ts";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import { kindOf } from "../disk/disk.ts";
import type { Disk } from "../disk/disk.ts";
import { parseRules } from "./ignore-rules.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { settled } from "../disk/steps.ts";
import type { Steps } from "../disk/steps.ts";

export interface IgnoreFile {
  /** The identity and state of the file; undefined while a change might not alter the time stamps. */
  readonly state: BigIntStats | undefined;
  /** The same object for the same text. */
  readonly rules: IgnoreRules;
}

/** Larger than any hand-written file; limits the memory for generated ones. */
const maxBytes = 512 * 1024;
const maxCachedBytes = 4 * 1024 * 1024;

export function createIgnoreFiles(disk: Disk, say: (message: string, path: string) => void) {
  /** By text. */
  const parsed = new Lru<string, IgnoreRules>({ maxSize: maxCachedBytes, sizeOf: (_, text) => text.length });

  function parse(text: string): IgnoreRules {
    const known = parsed.get(text);
    if (known) return known;
    const rules = parseRules(text);
    parsed.set(text, rules);
    return rules;
  }

  /** Undefined if there is no file, or if it is a link and `follow` is not set. */
  function* read(path: string, follow: boolean): Steps<IgnoreFile | undefined> {
    const content = yield* settled(disk.content(path, maxBytes, follow));
    if (!content) return undefined;
    const { stats, bytes } = content;
    const rules = parse(bytes.toString("latin1"));
    if (Number(stats.size) > maxBytes) say("ignore file is too large; only its first 512 KiB are used", path);
    else if (rules.leftOut > 0) say("ignore file has too many rules; the last ones are not used", path);
    const isSettled = fileClockMs() - Number(stats.ctimeMs) > disk.settleMs;
    return { state: isSettled ? stats : undefined, rules };
  }

  return {
    read,

    /** Returns `before` if the file is unchanged, else reads it again. */
    *again(path: string, before: IgnoreFile | undefined, follow: boolean): Steps<IgnoreFile | undefined> {
      if (before === undefined || before.state === undefined) return yield* read(path, follow);
      const stats = yield* settled(follow ? disk.stat(path) : disk.lstat(path));
      if (!stats || kindOf(stats) !== "file") return undefined;
      return isSameState(before.state, stats) ? before : yield* read(path, follow);
    },

    clear(): void {
      parsed.clear();
    },
  };
}

function isSameState(before: BigIntStats, now: BigIntStats): boolean {
  return (
    before.ctimeNs === now.ctimeNs &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size &&
    before.ino === now.ino &&
    before.dev === now.dev
  );
}
