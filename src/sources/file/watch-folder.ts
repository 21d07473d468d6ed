/** One watched folder: what is known of it, and how the system watches it. */
import * as fs from "node:fs";
import type { ServedPath } from "./confine.ts";
import { direntKind } from "../../backends/disk/disk.ts";
import type { Kind } from "../../backends/disk/disk.ts";
import type { NameRules } from "../../backends/folder-rules/name-rules.ts";
import type { WatchedNames } from "./watch-names.ts";

export type Hear = (event: string, name: string | null) => void;

export interface WatchedFolder {
  readonly path: string;
  /** Which folder this is, so that another in its place is noticed. */
  readonly identity: string;
  readonly names: WatchedNames;
  /** How its names are judged. */
  rules: NameRules;
  /** Whether a repository begins here: some of its rules stand where no watch is. */
  isRepository: boolean;
  /** Absent where the folder is only polled. */
  watch?: { close(): void };
}

/** Of a folder that has not been read: nothing in it is served. */
export const noRules: NameRules = {
  layers: [],
  allow: undefined,
  isOpen: false,
  isAllowed: false,
  secrets: undefined,
};

/** All that is in a folder that may have very much in it, without an object of the system for each at once. */
export function* kindsIn(folder: string): Generator<{ readonly name: string; readonly kind: Kind }> {
  const dir = fs.opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let entry = dir.readSync(); entry; entry = dir.readSync()) yield { name: entry.name, kind: direntKind(entry) };
  } finally {
    dir.closeSync();
  }
}

/** The name under which Linux announces changes of the watched folder itself. No file has it. */
export const itself = ".";

export function watchFolder(folder: string, hear: Hear, fail: () => void): { close(): void } {
  // What is announced of the folder itself bears the last segment of this path. A handle ends in a number, which may be a file's name.
  const path = process.platform === "linux" ? `${folder}/${itself}` : folder;
  const watcher = fs.watch(path, { persistent: true, encoding: "utf8" });
  watcher.on("change", (event, name) => hear(event, name === null ? null : String(name)));
  watcher.on("error", fail);
  return watcher;
}

export function systemMaxQueued(): number {
  try {
    return Number(fs.readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    return 16_384;
  }
}

/** Numbers of deleted folders are given out again at once; their times of birth are not. */
export function identity({ stats }: ServedPath): string {
  return `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
}
