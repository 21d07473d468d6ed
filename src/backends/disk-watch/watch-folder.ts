/** One watched folder: its state, and its watch by the operating system. */
import * as fs from "node:fs";
import type { ServedPath } from "../disk/confine.ts";
import { direntKind } from "../disk/disk.ts";
import type { Kind } from "../disk/disk.ts";
import type { NameRules } from "../folder-rules/name-rules.ts";
import type { WatchedNames } from "./watch-names.ts";

export type Hear = (event: string, name: string | null) => void;

export interface WatchedFolder {
  readonly path: string;
  /** Identifies the folder, so that a replacement is detected. */
  readonly identity: string;
  readonly names: WatchedNames;
  /** The rules for its names. */
  rules: NameRules;
  /** Whether it is the top of a repository: some of its rules are in files that are not watched. */
  isRepository: boolean;
  /** Absent if the folder is only polled. */
  watch?: { close(): void };
}

/** Rules of a folder that has not been read: nothing in it is served. */
export const noRules: NameRules = {
  layers: [],
  allow: undefined,
  isOpen: false,
  isAllowed: false,
  secrets: undefined,
};

/** All names in a possibly very large folder, without creating all directory entries at once. */
export function* kindsIn(folder: string): Generator<{ readonly name: string; readonly kind: Kind }> {
  const dir = fs.opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let entry = dir.readSync(); entry; entry = dir.readSync()) yield { name: entry.name, kind: direntKind(entry) };
  } finally {
    dir.closeSync();
  }
}

/** The name under which Linux announces changes of the watched folder itself. No file can have it. */
export const itself = ".";

export function watchFolder(folder: string, hear: Hear, fail: () => void): { close(): void } {
  // Linux reports events of the folder itself under the last segment of this path. A handle would end in a number, which may be a file's
  // name.
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

/** Inode numbers of deleted folders are reused immediately; birth times are not. */
export function identity({ stats }: ServedPath): string {
  return `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
}
