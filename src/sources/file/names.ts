/** The served names of a folder in address order, kept for folders so large that reading them again would be felt. */
import type { Place } from "./confine.ts";
import type { Disk } from "./disk.ts";
import { isServedName } from "./serving.ts";
import { createPause } from "./steps.ts";
import type { Steps } from "./steps.ts";

export interface Names {
  /** `folder` is the folder's own name. */
  of(place: Place, folder: string): Steps<readonly string[]>;
  /** Lets go of all that is kept. */
  clear(): void;
}

interface Kept {
  readonly stamp: string;
  readonly names: readonly string[];
}

const minKept = 256;
const maxKeptInAll = 400_000;

export function createNames(disk: Disk): Names {
  /** The least recently used first. */
  const kept = new Map<string, Kept>();
  let keptInAll = 0;

  function forget(key: string): void {
    keptInAll -= kept.get(key)?.names.length ?? 0;
    kept.delete(key);
  }

  function keep(key: string, value: Kept): void {
    forget(key);
    kept.set(key, value);
    keptInAll += value.names.length;
    for (const oldest of kept.keys()) {
      if (keptInAll <= maxKeptInAll) break;
      forget(oldest);
    }
  }

  return {
    *of({ stats, handle }, folder) {
      const key = `${stats.dev}-${stats.ino}`;
      const stamp = `${stats.mtimeNs}-${stats.ctimeNs}`;
      const known = kept.get(key);
      if (known?.stamp === stamp) {
        kept.delete(key);
        kept.set(key, known);
        return known.names;
      }
      // Its own stamp is older than the reading: what changes meanwhile gives the folder another.
      const isSettled = Date.now() - Number(stats.ctimeMs) > disk.settleMs + 30;
      const all = yield* disk.names(handle, Number(stats.size));
      const pause = createPause();
      const names: string[] = [];
      for (const name of all) {
        // Names that are not UTF-8 are shown alike, and might stand beside one that really is written so.
        if (isServedName(name, folder) && name !== names.at(-1)) names.push(name);
        const waiting = names.length % 1024 === 0 ? pause() : undefined;
        if (waiting) yield waiting;
      }
      if (isSettled && names.length >= minKept) keep(key, { stamp, names });
      else forget(key);
      return names;
    },
    clear() {
      kept.clear();
      keptInAll = 0;
    },
  };
}
