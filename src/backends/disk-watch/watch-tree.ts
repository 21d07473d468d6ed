/** Watches every folder below a root, keeps their names up to date, and reports what appears, disappears and changes. */
import type { SourceChange } from "../../source.ts";
import type { Confine, ServedPath } from "../disk/confine.ts";
import type { Disk } from "../disk/disk.ts";
import type { NameRules } from "../folder-rules/name-rules.ts";
import type { FolderRules } from "../folder-rules/folder-rules.ts";
import { runNow } from "../disk/steps.ts";
import { identity, itself, kindsIn, noRules, systemMaxQueued, watchFolder } from "./watch-folder.ts";
import type { WatchedFolder, Hear } from "./watch-folder.ts";
import { createDiskState } from "../disk/disk-state.ts";
import {
  addName,
  createWatchedNames,
  deleteName,
  fillNames,
  foldNames,
  hasName,
  isEmpty,
  listNames,
  seenOf,
} from "./watch-names.ts";
import { createQuiet } from "./watch-quiet.ts";

export interface WatchTree {
  /** Afterwards every existing folder is watched, or polled if it cannot be watched. False if the root cannot be read: then nothing is. */
  arm(): boolean;
  close(): void;
}

export interface WatchTreeOptions {
  readonly confine: Confine;
  /** Must be synchronous. */
  readonly disk: Disk;
  readonly folderRules: FolderRules;
  /** Called with changes in the order of detection, in batches. */
  tell(changes: readonly SourceChange[]): void;
  /** Called when events start to wait for processing, and when none is left. */
  busy?(isBusy: boolean): void;
  /** Called with the number of folders that are polled because the system has no more watches. */
  polling(folders: number): void;
  /** Called after each check with whether the root can be read. */
  looked?(isReadable: boolean): void;
  /** Also polls: the system does not announce changes made by other machines. */
  readonly pollAll?: boolean;
  readonly pollMs?: number;
  /** Starts to watch one folder; undefined if folders are only polled. */
  readonly watch?: (folder: string, hear: Hear, fail: () => void) => { close(): void } | undefined;
  /** Size of the system's event queue. It drops further events silently. */
  readonly maxQueued?: number;
  /** If there are more changes in one batch, "lost" is reported instead. */
  readonly maxTold?: number;
  /**
   * Ignore files must be unchanged for this long before they apply: an editor may remove and rewrite the file, and nothing would be ignored
   * in between.
   */
  readonly ruleQuietMs?: number;
  /** The longest wait for rules that keep changing. */
  readonly maxRuleHoldMs?: number;
}

/** The part of a folder that is compared: everything, new names, or names affected by changed rules. */
type Depth = "all" | "new" | "ruled";

const sliceMs = 5;
/** Above this number of uncompressed names, all are compressed. */
const maxUnfolded = 200_000;

export function createWatchTree(options: WatchTreeOptions): WatchTree {
  const { confine, disk, folderRules, tell, polling, pollAll = false, pollMs = 2000, watch = watchFolder } = options;
  const { maxTold = 20_000, ruleQuietMs = 100, maxRuleHoldMs = 1000 } = options;
  const maxQueued = options.maxQueued ?? systemMaxQueued();
  const { visit, kindAt, kindServed, identityAt, signature } = createDiskState(confine, disk);
  const folders = new Map<string, WatchedFolder>();
  /** Unprocessed events: path → whether the name may have been moved, created or removed. */
  const announced = new Map<string, boolean>();
  /** Folders whose rules may have changed. Until they are processed, the old rules apply. */
  const ruled = createQuiet({ quietMs: ruleQuietMs, maxHoldMs: maxRuleHoldMs, look: judge });
  /** Folders to enter once the rules are stable: path → whether it may have been moved, created or removed. */
  const waiting = new Map<string, boolean>();
  const polled = new Set<WatchedFolder>();
  /** Folders whose names may be uncompressed. */
  const touched = new Set<WatchedFolder>();
  let changes: SourceChange[] = [];
  let draining = false;
  let announcedThisTurn = 0;
  let toldPolled = 0;
  let doubt = false;
  let closed = false;
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;

  function setBusy(next: boolean): void {
    if (next === isBusy) return;
    isBusy = next;
    options.busy?.(next);
  }

  function flush(): void {
    if (polled.size !== toldPolled && !pollAll) polling((toldPolled = polled.size));
    if (changes.length === 0) return;
    tell(changes.length > maxTold ? [lost] : changes);
    changes = [];
  }

  /** Compresses names that have not been used for a while. */
  function foldTouched(): void {
    for (const { names } of touched) foldNames(names);
    touched.clear();
  }

  function say(kind: "appeared" | "gone" | "changed", path: string): void {
    if (changes.length <= maxTold) changes.push({ kind, path });
  }

  /** Everything served in the folder is reported separately. */
  function sayFolder(kind: "appeared" | "gone", path: string): void {
    if (changes.length <= maxTold) changes.push({ kind, path, eachBelow: true, isUnlisted: true });
  }

  /** Events are only recorded here and processed later, so that the system's queue does not overflow. */
  function hear(folder: WatchedFolder, event: string, name: string | null): void {
    announcedThisTurn += 1;
    if (name === null) doubt = true;
    else if (folderRules.isRule(name)) ruled.hear(folder.path);
    if (name !== null && name !== itself && folderRules.verdict(folder.rules, name) !== 0) {
      const path = join(folder.path, name);
      if (event === "rename" || !announced.has(path)) announced.set(path, event === "rename");
    }
    // Events of the root itself have no distinct name on some systems.
    if (folder.path === "" && event === "rename") announced.set("", true);
    schedule();
  }

  function schedule(): void {
    if (draining || closed) return;
    draining = true;
    if (doubt || announced.size > 0 || ruled.size > 0) setBusy(true);
    setImmediate(drain);
  }

  function drain(): void {
    draining = false;
    if (closed) return;
    // With this many in one turn, the system may have dropped some.
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
    else settle();
  }

  /** Everything processed has been reported. */
  function settle(): void {
    if (announced.size === 0 && waiting.size === 0 && ruled.size === 0) setBusy(false);
  }

  /** Events may have been missed: compares all names again. */
  function reconcile(): void {
    doubt = false;
    announced.clear();
    waiting.clear();
    if (!enter("", true)) leave("");
    changes = [lost];
  }

  /** The rules of these folders may have changed: reports what appears and disappears because of that. */
  function judge(paths: readonly string[]): void {
    for (const path of paths) {
      const folder = folders.get(path);
      if (folder && ruleBelow(path) !== folder.rules) enter(path, true, parentFolder(path), "ruled");
    }
    const entered = [...waiting];
    waiting.clear();
    for (const [path, isMoved] of entered) look(path, isMoved);
    flush();
    settle();
  }

  /** Detects changed rules that were not announced. */
  function checkRules({ path, rules }: WatchedFolder): void {
    if (!ruled.has(path) && ruleBelow(path) !== rules) ruled.hear(path);
  }

  /** Whether the rules of a folder may be about to change, through its own ignore files or those above. */
  function isUnsettled(path: string): boolean {
    if (ruled.size === 0) return false;
    for (let at = path; ; at = parentOf(at)) {
      if (ruled.has(at)) return true;
      if (at === "") return false;
    }
  }

  function parentFolder(path: string): WatchedFolder | undefined {
    return path === "" ? undefined : folders.get(parentOf(path));
  }

  function ruleBelow(path: string): NameRules | undefined {
    return runNow(folderRules.rulesIn(path));
  }

  function look(path: string, isMoved: boolean): void {
    if (path === "") {
      if (isMoved && identityAt("") !== folders.get("")?.identity) reconcile();
      return;
    }
    const folder = folders.get(parentOf(path));
    const name = nameOf(path);
    if (!folder) return;
    touched.add(folder);
    const wasKnown = hasName(folder.names, name);
    const wasFolder = folders.has(path);
    const kind = kindAt(path, folderRules.verdict(folder.rules, name));
    if (kind === "folder") {
      if (wasFolder && !isMoved) return;
      checkRules(folder);
      if (isUnsettled(folder.path)) {
        waiting.set(path, isMoved);
        return;
      }
      if (wasKnown && !wasFolder) say("gone", path);
      enter(path, true, folder);
      return;
    }
    if (wasFolder) leave(path, folder);
    if (kind === "file") {
      const isKnown = wasKnown && !wasFolder;
      say(isKnown ? "changed" : "appeared", path);
      if (!isKnown || polled.has(folder)) note(folder, name, polled.has(folder) ? signature(path) : 0);
    } else if (wasKnown && !wasFolder) {
      say("gone", path);
      drop(folder, name);
    } else if (!wasFolder && kind === undefined && identityAt(folder.path) !== folder.identity) {
      // It was removed together with its folder before it was processed. A client may have seen it, and the folder's own removal does not
      // cover it.
      say("gone", path);
    }
  }

  function note(folder: WatchedFolder, name: string, seen = 0): void {
    touched.add(folder);
    addName(folder.names, name, seen);
  }

  function drop(folder: WatchedFolder, name: string): void {
    touched.add(folder);
    deleteName(folder.names, name);
  }

  /**
   * Starts to watch a folder, or compares it with its known state. Watches before reading, so that nothing created in between is missed.
   * False if the folder does not exist.
   */
  function enter(path: string, isTold: boolean, parent?: WatchedFolder, depth: Depth = "all"): boolean {
    const entered = visit(path, (location) => {
      if (location.kind !== "folder" || !location.direct) return undefined;
      const known = folders.get(path);
      if (known && known.identity !== identity(location)) leave(path, parent);
      const isNew = !folders.has(path);
      const folder = folders.get(path) ?? begin(path, location);
      if (isNew && path !== "" && isTold) sayFolder("appeared", path);
      if (parent && !hasName(parent.names, nameOf(path))) note(parent, nameOf(path));
      const rules = folder.rules;
      const found = read(folder, location);
      if (depth !== "new" || isNew || folder.rules === rules) return { folder, found };
      folder.rules = rules;
      if (!ruled.has(path)) ruled.hear(path);
      return { folder };
    });
    if (!entered) {
      if (folders.has(path)) leave(path, parent);
      return false;
    }
    if (entered.found) compare(entered.folder, entered.found, isTold, depth);
    return true;
  }

  function begin(path: string, location: ServedPath): WatchedFolder {
    const folder: WatchedFolder = {
      path,
      identity: identity(location),
      names: createWatchedNames(),
      rules: noRules,
      isRepository: false,
    };
    folders.set(path, folder);
    try {
      const begun = watch(location.handle, (event, name) => hear(folder, event, name), failed);
      if (begun) folder.watch = begun;
    } catch {
      // No more watches, or none on this file system.
      polled.add(folder);
    }
    if (pollAll) polled.add(folder);
    return folder;

    function failed(): void {
      folder.watch?.close();
      delete folder.watch;
      if (folders.get(path) !== folder) return;
      polled.add(folder);
      doubt = true;
      schedule();
    }
  }

  function read(folder: WatchedFolder, { handle, stats }: ServedPath): Map<string, "file" | "folder"> {
    const { path } = folder;
    const found = new Map<string, "file" | "folder">();
    const kinds = disk.isSmall(stats) ? disk.kinds(handle) : [...kindsIn(handle)];
    const rulesHere = kinds.flatMap(({ name }) => (folderRules.isRule(name) ? [name] : [])).sort();
    folder.isRepository = rulesHere.includes(".git");
    folder.rules = runNow(folderRules.rulesAmong({ path, stats, handle }, rulesHere)) ?? noRules;
    for (const { name, kind: reported } of kinds) {
      const verdict = folderRules.verdict(folder.rules, name);
      if (verdict === 0) continue;
      // A name that is not valid UTF-8 is displayed like this one, but cannot be opened by it.
      const isSure = (reported === "file" || reported === "folder") && !name.includes("\ufffd");
      const kind = isSure ? kindServed(reported, "", verdict) : kindAt(join(path, name), verdict);
      if (kind) found.set(name, kind);
    }
    return found;
  }

  function compare(
    folder: WatchedFolder,
    found: ReadonlyMap<string, "file" | "folder">,
    isTold: boolean,
    depth: Depth,
  ): void {
    const { names } = folder;
    const isPolled = polled.has(folder);
    const isFirst = !isPolled && !isTold && isEmpty(names);
    if (isFirst) fillNames(names, found.keys());
    for (const name of isFirst ? [] : listNames(names)) {
      const path = join(folder.path, name);
      const now = found.get(name);
      if (folders.has(path)) {
        if (now !== "folder") leave(path, folder);
      } else if (now !== "file") {
        drop(folder, name);
        if (isTold) say("gone", path);
      }
    }
    const inner: string[] = [];
    for (const [name, kind] of found) {
      if (kind === "folder") {
        inner.push(name);
        continue;
      }
      if (isFirst) continue;
      const isNew = !hasName(names, name);
      if (isNew && isTold) say("appeared", join(folder.path, name));
      if (!isPolled) {
        if (isNew) note(folder, name);
        continue;
      }
      const now = signature(join(folder.path, name));
      if (!isNew && isTold && (now === 0 || seenOf(names, name) !== now)) say("changed", join(folder.path, name));
      note(folder, name, now);
    }
    for (const name of inner) {
      const path = join(folder.path, name);
      const known = folders.get(path);
      if (known && depth !== "all" && !isOther(known, depth)) continue;
      if (!enter(path, isTold, folder, depth === "new" ? "all" : depth) && hasName(names, name)) drop(folder, name);
    }
    // This many names are compressed before the next folder.
    if (!isTold || isPolled || (names.unfolded?.size ?? 0) > maxUnfolded) foldNames(names);
  }

  function isOther({ path, rules, identity: before }: WatchedFolder, depth: "new" | "ruled"): boolean {
    return (depth === "ruled" && ruleBelow(path) !== rules) || identityAt(path) !== before;
  }

  /** Stops watching a folder and everything below it, and reports its contents as gone. */
  function leave(path: string, parent?: WatchedFolder): void {
    const folder = folders.get(path);
    if (!folder) return;
    for (const name of listNames(folder.names)) {
      const child = join(path, name);
      if (folders.has(child)) leave(child);
      else say("gone", child);
    }
    folder.watch?.close();
    folders.delete(path);
    polled.delete(folder);
    touched.delete(folder);
    if (parent) drop(parent, nameOf(path));
    if (path !== "") sayFolder("gone", path);
  }

  /** Checks what watches do not cover: the root itself, which may be moved with its parents, rules outside the root, and polled folders. */
  function lookAgain(): void {
    const begun = performance.now();
    const wasReadable = folders.has("");
    if (identityAt("") !== folders.get("")?.identity) {
      setBusy(true);
      reconcile();
      // Its loss was reported when it was noticed.
      if (!wasReadable && !folders.has("")) changes = [];
    }
    for (const folder of folders.values()) if (folder.path === "" || folder.isRepository) checkRules(folder);
    for (const folder of polled) {
      const { path } = folder;
      if (folders.get(path) === folder) enter(path, true, parentFolder(path), "new");
    }
    flush();
    settle();
    if (announced.size === 0) foldTouched();
    options.looked?.(folders.has(""));
    const tookMs = performance.now() - begun;
    // A tree that is slow to check is checked less often.
    timer = setTimeout(lookAgain, Math.max(pollMs, tookMs * 10));
  }

  return {
    arm() {
      if (!enter("", false)) return false;
      foldTouched();
      changes = [];
      flush();
      timer = setTimeout(lookAgain, pollMs);
      return true;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const folder of folders.values()) folder.watch?.close();
      folders.clear();
      polled.clear();
      announced.clear();
      waiting.clear();
      ruled.close();
      touched.clear();
    },
  };
}

const lost: SourceChange = { kind: "lost" };

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
