/** Every folder below a root with the names in it, kept true by one watch per folder; tells what appears, goes and changes. */
import type { SourceChange } from "../../source.ts";
import type { Confine, ServedPath } from "./confine.ts";
import type { Disk } from "../../backends/disk/disk.ts";
import type { NameRules } from "../../backends/folder-rules/name-rules.ts";
import type { FolderRules } from "../../backends/folder-rules/folder-rules.ts";
import { runNow } from "../../backends/disk/steps.ts";
import { identity, itself, kindsIn, noRules, systemMaxQueued, watchFolder } from "./watch-folder.ts";
import type { WatchedFolder, Hear } from "./watch-folder.ts";
import { createWatchLook } from "./watch-look.ts";
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
  /** Afterwards every folder that is there is watched, or polled where it cannot be watched. */
  arm(): void;
  close(): void;
}

export interface WatchTreeOptions {
  readonly confine: Confine;
  /** One that answers at once. */
  readonly disk: Disk;
  readonly folderRules: FolderRules;
  /** Changes in the order in which they were found, some at a time. */
  tell(changes: readonly SourceChange[]): void;
  /** Told when announcements begin to wait to be looked at, and when none does any more. */
  busy?(isBusy: boolean): void;
  /** How many folders are polled because the system has no more watches. */
  polling(folders: number): void;
  /** Also look again and again: changes made on another machine are not announced by this one. */
  readonly pollAll?: boolean;
  readonly pollMs?: number;
  /** Begins to watch one folder; undefined where folders are only polled. */
  readonly watch?: (folder: string, hear: Hear, fail: () => void) => { close(): void } | undefined;
  /** How many announcements the system keeps for one who does not listen. Beyond it they are dropped without a word. */
  readonly maxQueued?: number;
  /** With more to tell at once, "lost" is told instead. */
  readonly maxTold?: number;
  /**
   * How long ignore files must be left alone before they count: whoever writes one anew may remove it first, and for that
   * moment nothing is ignored.
   */
  readonly ruleQuietMs?: number;
  /** The longest that rules are waited for which change again and again. */
  readonly maxRuleHoldMs?: number;
}

/** What is compared below a folder: all, what is new in it, or that for which other rules count than before. */
type Depth = "all" | "new" | "ruled";

const sliceMs = 5;
/** With more names unfolded than this, all are folded. */
const maxUnfolded = 200_000;

export function createWatchTree(options: WatchTreeOptions): WatchTree {
  const { confine, disk, folderRules, tell, polling, pollAll = false, pollMs = 2000, watch = watchFolder } = options;
  const { maxTold = 20_000, ruleQuietMs = 100, maxRuleHoldMs = 1000 } = options;
  const maxQueued = options.maxQueued ?? systemMaxQueued();
  const { visit, kindAt, kindServed, identityAt, signature } = createWatchLook(confine, disk);
  const folders = new Map<string, WatchedFolder>();
  /** What was announced and not yet looked at: path → whether it may have been moved, made or removed. */
  const announced = new Map<string, boolean>();
  /** Folders for which other rules may count, not yet judged by them: for so long the rules of before hold. */
  const ruled = createQuiet({ quietMs: ruleQuietMs, maxHoldMs: maxRuleHoldMs, look: judge });
  /** Folders that are entered once the rules are settled: path → whether it may have been moved, made or removed. */
  const waiting = new Map<string, boolean>();
  const polled = new Set<WatchedFolder>();
  /** Folders whose names are unfolded, or may be. */
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

  /** Names that no one has touched for a while take up as little as can be. */
  function foldTouched(): void {
    for (const { names } of touched) foldNames(names);
    touched.clear();
  }

  function say(kind: "appeared" | "gone" | "changed", path: string): void {
    if (changes.length <= maxTold) changes.push({ kind, path });
  }

  /** All that is served in the folder is told for itself. */
  function sayFolder(kind: "appeared" | "gone", path: string): void {
    if (changes.length <= maxTold) changes.push({ kind, path, eachBelow: true });
  }

  /** What the system announces is noted at once and looked at later, so that its queue never runs full. */
  function hear(folder: WatchedFolder, event: string, name: string | null): void {
    announcedThisTurn += 1;
    if (name === null) doubt = true;
    else if (folderRules.isRule(name)) ruled.hear(folder.path);
    if (name !== null && name !== itself && folderRules.verdict(folder.rules, name) !== 0) {
      const path = join(folder.path, name);
      if (event === "rename" || !announced.has(path)) announced.set(path, event === "rename");
    }
    // Word of the root itself comes under no name that can be told from others on every system.
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
    else settle();
  }

  /** What was looked at has been told. */
  function settle(): void {
    if (announced.size === 0 && waiting.size === 0 && ruled.size === 0) setBusy(false);
  }

  /** Something may have been missed: all names are compared again. */
  function reconcile(): void {
    doubt = false;
    announced.clear();
    waiting.clear();
    if (!enter("", true)) leave("");
    changes = [lost];
  }

  /** Other rules may count in these folders: tells of what comes and goes by them. */
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

  /** Notices other rules that no one has announced yet. */
  function checkRules({ path, rules }: WatchedFolder): void {
    if (!ruled.has(path) && ruleBelow(path) !== rules) ruled.hear(path);
  }

  /** Whether other rules may come to count in a folder, because of its own ignore files or of those above. */
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
      // It went with its folder before it was looked at. Someone may have seen it there, and the folder does not tell of it.
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
   * Begins to watch a folder, or compares it with what was known of it. Watched before it is read: what is made in between is
   * seen by one or the other. False if there is no such folder.
   */
  function enter(path: string, isTold: boolean, parent?: WatchedFolder, depth: Depth = "all"): boolean {
    const entered = visit(path, (place) => {
      if (place.kind !== "folder" || !place.direct) return undefined;
      const known = folders.get(path);
      if (known && known.identity !== identity(place)) leave(path, parent);
      const isNew = !folders.has(path);
      const folder = folders.get(path) ?? begin(path, place);
      if (isNew && path !== "" && isTold) sayFolder("appeared", path);
      if (parent && !hasName(parent.names, nameOf(path))) note(parent, nameOf(path));
      const rules = folder.rules;
      const found = read(folder, place);
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

  function begin(path: string, place: ServedPath): WatchedFolder {
    const folder: WatchedFolder = {
      path,
      identity: identity(place),
      names: createWatchedNames(),
      rules: noRules,
      isRepository: false,
    };
    folders.set(path, folder);
    try {
      const begun = watch(place.handle, (event, name) => hear(folder, event, name), failed);
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
    for (const { name, kind: told } of kinds) {
      const verdict = folderRules.verdict(folder.rules, name);
      if (verdict === 0) continue;
      // A name that is no valid UTF-8 is shown like this one, and is not there under it.
      const isSure = (told === "file" || told === "folder") && !name.includes("\ufffd");
      const kind = isSure ? kindServed(told, "", verdict) : kindAt(join(path, name), verdict);
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
    // So many at once are best folded before the next.
    if (!isTold || isPolled || (names.unfolded?.size ?? 0) > maxUnfolded) foldNames(names);
  }

  function isOther({ path, rules, identity: before }: WatchedFolder, depth: "new" | "ruled"): boolean {
    return (depth === "ruled" && ruleBelow(path) !== rules) || identityAt(path) !== before;
  }

  /** Ends the watch of a folder and of all below it: with it, all that was in it is gone. */
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

  /**
   * Looks at what no watch tells of: the root itself, which may be moved with all above it, rules that stand elsewhere, and the
   * folders that are polled.
   */
  function lookAgain(): void {
    const begun = performance.now();
    if (identityAt("") !== folders.get("")?.identity) {
      setBusy(true);
      reconcile();
    }
    for (const folder of folders.values()) if (folder.path === "" || folder.isRepository) checkRules(folder);
    for (const folder of polled) {
      const { path } = folder;
      if (folders.get(path) === folder) enter(path, true, parentFolder(path), "new");
    }
    flush();
    settle();
    if (announced.size === 0) foldTouched();
    const tookMs = performance.now() - begun;
    // A tree that takes long to look at is looked at more rarely.
    timer = setTimeout(lookAgain, Math.max(pollMs, tookMs * 10));
  }

  return {
    arm() {
      enter("", false);
      foldTouched();
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
