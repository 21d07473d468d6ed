/** Disk state that the watch compares: what is served at a path, which folder is there, and a signature that changes with the file. */
import type { BigIntStats } from "node:fs";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import type { Confine, ServedPath } from "./confine.ts";
import { isNothing, isRefusal, kindOf } from "./disk.ts";
import type { Disk, Kind } from "./disk.ts";
import { asFile, asFolder } from "../folder-rules/name-rules.ts";
import type { Verdict } from "../folder-rules/name-rules.ts";
import { runNow, settled } from "./steps.ts";
import { identity } from "../disk-watch/watch-folder.ts";

interface DiskState {
  /** Undefined if nothing accessible is served at the path. */
  visit<T>(path: string, use: (location: ServedPath) => T): T | undefined;
  /** The kind that is served at a path. A link counts as a file: its target is announced under its own name. */
  kindAt(path: string, verdict: Verdict): "file" | "folder" | undefined;
  /** Same as `kindAt` if the kind on the disk is known. */
  kindServed(kind: Kind, path: string, verdict: Verdict): "file" | "folder" | undefined;
  /** The identity of the folder at a path; undefined if there is none. */
  identityAt(path: string): string | undefined;
  /** Changes with the file; 0 while a change might not alter it. */
  signature(path: string): number;
}

/** More than the coarsest time stamps of any file system (two seconds). */
const coarseSettleMs = 2500;

/** `disk` must be synchronous. */
export function createDiskState(confine: Confine, disk: Disk): DiskState {
  function lstat(path: string): BigIntStats | undefined {
    return runNow(settled(disk.lstat(confine.locate(path))));
  }

  function visit<T>(path: string, use: (location: ServedPath) => T): T | undefined {
    try {
      return runNow(confine.visit(path, (location) => settled(use(location))));
    } catch (cause) {
      if (isNothing(cause) || isRefusal(cause)) return undefined;
      throw cause;
    }
  }

  function kindServed(kind: Kind, path: string, verdict: Verdict): "file" | "folder" | undefined {
    if (kind === "other" || (verdict & (kind === "folder" ? asFolder : asFile)) === 0) return undefined;
    if (kind === "link") return visit(path, () => true) ? "file" : undefined;
    return kind;
  }

  return {
    visit,
    kindServed,

    kindAt(path, verdict) {
      const stats = verdict === 0 ? undefined : lstat(path);
      return stats && kindServed(kindOf(stats), path, verdict);
    },

    identityAt: (path) =>
      visit(path, (location) => (location.kind === "folder" && location.direct ? identity(location) : undefined)),

    signature(path) {
      const stats = lstat(path);
      if (!stats) return 0;
      const { ino, size, mtimeNs, ctimeNs } = stats;
      const isCoarse = ctimeNs % 1_000_000n === 0n;
      const settleMs = isCoarse ? Math.max(disk.settleMs, coarseSettleMs) : disk.settleMs;
      if (fileClockMs() - Number(stats.ctimeMs) < settleMs) return 0;
      const mixed = ((ino * 31n + size) * 0x9e3779b97f4a7c15n + mtimeNs) * 0xd1342543de82ef95n + ctimeNs;
      return Number(BigInt.asUintN(64, mixed) >> 11n) || 1;
    },
  };
}
