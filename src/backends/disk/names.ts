/** The served names of a folder in address order, cached for folders that are slow to read. */
import type { BigIntStats } from "node:fs";
import { Lru } from "../../lib/lru.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import type { ServedPath } from "./confine.ts";
import type { Disk } from "./disk.ts";
import { asFile, asFolder } from "../folder-rules/name-rules.ts";
import type { NameRules } from "../folder-rules/name-rules.ts";
import type { FolderRules } from "../folder-rules/folder-rules.ts";
import type { Steps } from "./steps.ts";

export interface FolderNames {
  readonly names: readonly string[];
  /** Names that are served only as files (or links), or only as folders. */
  readonly only: ReadonlyMap<string, typeof asFile | typeof asFolder>;
}

export interface Names {
  of(location: ServedPath): Steps<FolderNames>;
  /** Clears the cache. */
  clear(): void;
}

interface CachedNames extends FolderNames {
  /** Identity and state of the folder. */
  readonly stats: Pick<BigIntStats, "dev" | "mtimeNs" | "ctimeNs">;
  readonly rules: NameRules | undefined;
}

/** A folder with fewer names is cached only until some others have been read, so that the next page can use it. */
const minLarge = 2000;
const maxSmallCached = 16;
const maxCachedNames = 200_000;

const nothing: FolderNames = { names: [], only: new Map() };

export function createNames(disk: Disk, folderRules: FolderRules): Names {
  /** By inode. */
  const large = new Lru<bigint, CachedNames>({ maxSize: maxCachedNames, sizeOf: ({ names }) => names.length });
  const small = new Lru<bigint, CachedNames>({ maxEntries: maxSmallCached });

  function forget(key: bigint): void {
    large.delete(key);
    small.delete(key);
  }

  function store(key: bigint, value: CachedNames): void {
    forget(key);
    (value.names.length < minLarge ? small : large).set(key, value);
  }

  function* ifKept({ stats, path }: ServedPath): Steps<FolderNames | undefined> {
    const known = large.get(stats.ino) ?? small.get(stats.ino);
    if (!known || !isSameState(known.stats, stats)) return undefined;
    if (known.rules !== (yield* folderRules.rulesIn(path, stats))) return undefined;
    return known;
  }

  function* read(location: ServedPath): Steps<FolderNames> {
    const { stats, handle } = location;
    // The folder's time stamp is older than this read, so a concurrent change gives it another.
    const isSettled = fileClockMs() - Number(stats.ctimeMs) > disk.settleMs + 30;
    const all = yield* disk.names(handle, Number(stats.size));
    const rules = yield* folderRules.rulesAmong(location, all);
    if (!rules) return nothing;
    const pause = createTimeSlices();
    const names: string[] = [];
    let only: Map<string, typeof asFile | typeof asFolder> | undefined;
    let before = "";
    let judged = 0;
    for (const name of all) {
      const verdict = folderRules.verdict(rules, name);
      // Names that are not UTF-8 look alike, and may equal a real name with the replacement character.
      if (verdict !== 0 && name !== before) {
        names.push((before = name));
        if (verdict === asFile || verdict === asFolder) (only ??= new Map()).set(name, verdict);
      }
      const waiting = (judged += 1) % 64 === 0 ? pause() : undefined;
      if (waiting) yield waiting;
    }
    const found = { names, only: only ?? nothing.only };
    const { dev, ino, mtimeNs, ctimeNs } = stats;
    if (isSettled) store(ino, { ...found, stats: { dev, mtimeNs, ctimeNs }, rules });
    else forget(ino);
    return found;
  }

  return {
    *of(location) {
      return (yield* ifKept(location)) ?? (yield* read(location));
    },

    clear() {
      large.clear();
      small.clear();
    },
  };
}

function isSameState(before: CachedNames["stats"], { dev, mtimeNs, ctimeNs }: BigIntStats): boolean {
  return before.ctimeNs === ctimeNs && before.mtimeNs === mtimeNs && before.dev === dev;
}
