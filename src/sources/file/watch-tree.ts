/** Every folder below a root with the names in it, kept true by one watch per folder; tells what appears, goes and changes. */
import * as fs from "node:fs";
import type { SourceChange } from "../../source.ts";
import type { Confine, Place } from "./confine.ts";
import { isNothing, isRefusal, kindOf } from "./disk.ts";
import type { Disk, Kind } from "./disk.ts";
import { isServedName } from "./serving.ts";
import { runNow, settled } from "./steps.ts";

export interface WatchTree {
  /** Afterwards every folder that is there is watched, or polled where it cannot be watched. */
  arm(): void;
  close(): void;
}

export interface WatchTreeOptions {
  readonly confine: Confine;
  /** One that answers at once. */
  readonly disk: Disk;
  /** Changes in the order in which they were found, some at a time. */
  tell(changes: readonly SourceChange[]): void;
  /** How many folders are polled because the system has no more watches. */
  polling(folders: number): void;
  /** Also look again and again: changes made on another machine are not announced by this one. */
  readonly pollAll?: boolean;
  readonly pollMs?: number;
  /** Begins to watch one folder. */
  readonly watch?: (folder: string, hear: Hear, fail: () => void) => { close(): void };
  /** How many announcements the system keeps for one who does not listen. Beyond it they are dropped without a word. */
  readonly maxQueued?: number;
}

type Hear = (event: string, name: string | null) => void;

interface Folder {
  readonly path: string;
  /** Which folder this is, so that another in its place is noticed. */
  readonly identity: string;
  readonly names: Set<string>;
  /** Absent where the folder is only polled. */
  watch?: { close(): void };
  /** What was seen of each file at the last poll. */
  seen?: Map<string, string>;
}

const sliceMs = 5;

export function createWatchTree(options: WatchTreeOptions): WatchTree {
  const { confine, disk, tell, polling, pollAll = false, pollMs = 2000, watch = watchFolder } = options;
  const maxQueued = options.maxQueued ?? systemMaxQueued();
  const folders = new Map<string, Folder>();
  /** What was announced and not yet looked at: path → whether it may have been moved, made or removed. */
  const announced = new Map<string, boolean>();
  const polled = new Set<Folder>();
  let changes: SourceChange[] = [];
  let draining = false;
  let announcedThisTurn = 0;
  let toldPolled = 0;
  let doubt = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    if (polled.size !== toldPolled && !pollAll) polling((toldPolled = polled.size));
    if (changes.length === 0) return;
    tell(changes);
    changes = [];
  }

  function say(kind: "appeared" | "gone" | "changed", path: string): void {
    changes.push({ kind, path });
  }

  /** What the system announces is noted at once and looked at later, so that its queue never runs full. */
  function hear(folder: Folder, event: string, name: string | null): void {
    announcedThisTurn += 1;
    if (name === null) doubt = true;
    else if (isServedName(name, nameOf(folder.path))) {
      const path = join(folder.path, name);
      if (event === "rename" || !announced.has(path)) announced.set(path, event === "rename");
    }
    // Word of the root itself comes under a name that means nothing.
    if (folder.path === "" && event === "rename") announced.set("", true);
    schedule();
  }

  function schedule(): void {
    if (draining || closed) return;
    draining = true;
    setImmediate(drain);
  }

  function drain(): void {
    draining = false;
    if (closed) return;
    // So many at one go, and some of them may have been dropped.
    if (announcedThisTurn >= maxQueued / 2) doubt = true;
    announcedThisTurn = 0;
    if (doubt) reconcile();
    const until = performance.now() + sliceMs;
    for (const [path, isMoved] of announced) {
      announced.delete(path);
      look(path, isMoved);
      if (performance.now() > until) break;
    }
    flush();
    if (announced.size > 0) schedule();
  }

  /** Something may have been missed: all names are compared again. */
  function reconcile(): void {
    doubt = false;
    announced.clear();
    if (!enter("", true)) leave("");
    changes = [{ kind: "lost" }];
  }

  function look(path: string, isMoved: boolean): void {
    if (path === "") {
      if (isMoved && identityOf("") !== folders.get("")?.identity) reconcile();
      return;
    }
    const folder = folders.get(parentOf(path));
    const name = nameOf(path);
    if (!folder) return;
    const wasKnown = folder.names.has(name);
    const wasFolder = folders.has(path);
    const kind = servedKind(path);
    if (kind === "folder") {
      if (wasKnown && !wasFolder) say("gone", path);
      if (!wasFolder || isMoved) enter(path, true, folder);
      return;
    }
    if (wasFolder) leave(path, folder);
    if (kind === "file") {
      say(wasKnown && !wasFolder ? "changed" : "appeared", path);
      folder.names.add(name);
      if (folder.seen) folder.seen.set(name, signature(path));
    } else if (wasKnown && !wasFolder) {
      say("gone", path);
      folder.names.delete(name);
      folder.seen?.delete(name);
    }
  }

  /** What is served at a path. A link counts as a file: what lies behind it is announced under its own name. */
  function servedKind(path: string): "file" | "folder" | undefined {
    const stats = lstat(path);
    return stats && kindServed(kindOf(stats), path);
  }

  function lstat(path: string): fs.BigIntStats | undefined {
    return runNow(settled(disk.lstat(confine.locate(path))));
  }

  function kindServed(kind: Kind, path: string): "file" | "folder" | undefined {
    if (kind === "file" || kind === "folder") return kind;
    return kind === "link" && visit(path, () => true) ? "file" : undefined;
  }

  function visit<T>(path: string, use: (place: Place) => T): T | undefined {
    try {
      return runNow(confine.visit(path, (place) => settled(use(place))));
    } catch (cause) {
      if (isNothing(cause) || isRefusal(cause)) return undefined;
      throw cause;
    }
  }

  function identityOf(path: string): string | undefined {
    return visit(path, (place) => (place.kind === "folder" && place.direct ? identity(place) : undefined));
  }

  /** What a change alters; "" while a change might still leave it as it is. */
  function signature(path: string): string {
    const stats = lstat(path);
    if (!stats || Date.now() - Number(stats.ctimeMs) < disk.settleMs) return "";
    return `${stats.dev}-${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`;
  }

  /**
   * Begins to watch a folder, or compares it with what was known of it. Watched before it is read: what is made in between is
   * seen by one or the other. Folders in it that are known are compared as well if it is to go `deep`. False if there is no
   * such folder.
   */
  function enter(path: string, isTold: boolean, parent?: Folder, deep = true): boolean {
    const entered = visit(path, (place) => {
      if (place.kind !== "folder" || !place.direct) return undefined;
      const known = folders.get(path);
      if (known && known.identity !== identity(place)) leave(path, parent);
      const isNew = !folders.has(path);
      const folder = folders.get(path) ?? begin(path, place);
      if (isNew && path !== "" && isTold) say("appeared", path);
      parent?.names.add(nameOf(path));
      return { folder, found: read(place, path) };
    });
    if (!entered) {
      if (folders.has(path)) leave(path, parent);
      return false;
    }
    compare(entered.folder, entered.found, isTold, deep);
    return true;
  }

  function begin(path: string, place: Place): Folder {
    const folder: Folder = { path, identity: identity(place), names: new Set() };
    folders.set(path, folder);
    try {
      folder.watch = watch(place.handle, (event, name) => hear(folder, event, name), failed);
    } catch {
      // No more watches, or none on this file system.
      poll(folder);
    }
    if (pollAll) poll(folder);
    return folder;

    function failed(): void {
      folder.watch?.close();
      delete folder.watch;
      if (folders.get(path) !== folder) return;
      poll(folder);
      doubt = true;
      schedule();
    }
  }

  function poll(folder: Folder): void {
    folder.seen ??= new Map();
    polled.add(folder);
  }

  function read(place: Place, path: string): Map<string, "file" | "folder"> {
    const found = new Map<string, "file" | "folder">();
    for (const entry of fs.readdirSync(place.handle, { withFileTypes: true })) {
      const { name } = entry;
      if (!isServedName(name, nameOf(path))) continue;
      const child = join(path, name);
      // A name that is no valid UTF-8 is shown like this one, and is not there under it.
      const kind = name.includes("\ufffd") ? servedKind(child) : kindServed(direntKind(entry), child);
      if (kind) found.set(name, kind);
    }
    return found;
  }

  function compare(
    folder: Folder,
    found: ReadonlyMap<string, "file" | "folder">,
    isTold: boolean,
    deep: boolean,
  ): void {
    for (const name of folder.names) {
      const path = join(folder.path, name);
      const now = found.get(name);
      if (folders.has(path)) {
        if (now !== "folder") leave(path, folder);
      } else if (now !== "file") {
        folder.names.delete(name);
        folder.seen?.delete(name);
        if (isTold) say("gone", path);
      }
    }
    for (const [name, kind] of found) {
      const path = join(folder.path, name);
      if (kind === "folder") {
        const known = deep ? undefined : folders.get(path);
        if (!known || identityOf(path) !== known.identity) enter(path, isTold, folder);
        continue;
      }
      const isNew = !folder.names.has(name);
      folder.names.add(name);
      if (isNew && isTold) say("appeared", path);
      if (!folder.seen) continue;
      const now = signature(path);
      if (!isNew && isTold && (now === "" || folder.seen.get(name) !== now)) say("changed", path);
      folder.seen.set(name, now);
    }
  }

  /** Ends the watch of a folder and of all below it: with it, all that was in it is gone. */
  function leave(path: string, parent?: Folder): void {
    const folder = folders.get(path);
    if (!folder) return;
    for (const name of folder.names) {
      const child = join(path, name);
      if (folders.has(child)) leave(child);
      else say("gone", child);
    }
    folder.watch?.close();
    folders.delete(path);
    polled.delete(folder);
    parent?.names.delete(nameOf(path));
    if (path !== "") say("gone", path);
  }

  /** Looks at what no watch tells of: the root itself, which may be moved with all above it, and the folders that are polled. */
  function lookAgain(): void {
    const begun = performance.now();
    if (identityOf("") !== folders.get("")?.identity) reconcile();
    for (const folder of polled) {
      const { path } = folder;
      if (folders.get(path) === folder) enter(path, true, path === "" ? undefined : folders.get(parentOf(path)), false);
    }
    flush();
    const tookMs = performance.now() - begun;
    // A tree that takes long to look at is looked at more rarely.
    timer = setTimeout(lookAgain, Math.max(pollMs, tookMs * 10));
  }

  return {
    arm() {
      enter("", false);
      changes = [];
      flush();
      timer = setTimeout(lookAgain, pollMs);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const folder of folders.values()) folder.watch?.close();
      folders.clear();
      polled.clear();
      announced.clear();
    },
  };
}

function watchFolder(folder: string, hear: Hear, fail: () => void): { close(): void } {
  const watcher = fs.watch(folder, { persistent: true, encoding: "utf8" });
  watcher.on("change", (event, name) => hear(event, name === null ? null : String(name)));
  watcher.on("error", fail);
  return watcher;
}

function systemMaxQueued(): number {
  try {
    return Number(fs.readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8")) || 16_384;
  } catch {
    return 16_384;
  }
}

/** Numbers of deleted folders are given out again at once; their times of birth are not. */
function identity({ stats }: Place): string {
  return `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
}

function direntKind(entry: fs.Dirent): Kind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
