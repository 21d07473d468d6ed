/** Lists all files below a folder in address order, page by page. Holds only the folders on the path to the current file in memory. */
import type { Stats } from "node:fs";
import { cancelled } from "../../errors.ts";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import { directoryType } from "../../resources.ts";
import type { Page } from "../../resources.ts";
import type { Entry } from "../../source.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Confine, ServedPath } from "./confine.ts";
import { isNothing, isRefusal, kindOf } from "./disk.ts";
import type { Disk } from "./disk.ts";
import { fileFactsOf, fileEntry, folderEntry } from "./entry.ts";
import type { FileEntryOptions, FileFacts } from "./entry.ts";
import { asFile, asFolder } from "../folder-rules/name-rules.ts";
import type { FolderNames, Names } from "./names.ts";
import type { FolderRules } from "../folder-rules/folder-rules.ts";
import { settled } from "./steps.ts";
import type { Steps } from "./steps.ts";

interface WalkPageRequest {
  readonly cursor?: string;
  readonly limit: number;
  /** False if no entry needs a version. */
  readonly versions?: boolean;
  readonly signal: AbortSignal;
}

export interface FileWalk {
  /** Files after the cursor's path. Does not enter links to folders. Undefined if the root does not exist. */
  files(request: WalkPageRequest): Steps<Page<Entry> | undefined>;
  /** The direct children of a folder, after the cursor's name. Undefined if the folder does not exist. */
  children(path: string, request: WalkPageRequest): Steps<Page<Entry> | undefined>;
  entry(path: string, location: ServedPath): Entry;
  /** The entry at a path, following links; undefined if nothing exists there, or it may not be accessed. */
  find(path: string): Steps<Entry | undefined>;
}

interface FileWalkOptions {
  readonly root: { readonly name: string };
  readonly confine: Confine;
  readonly disk: Disk;
  readonly names: Names;
  readonly folderRules: FolderRules;
  /** Members of entries that do not come from the file system. */
  readonly entryOptions?: FileEntryOptions;
  /** Reports a folder without read permission, which is left out. */
  refused(path: string): void;
  /** Reports a name that is not valid UTF-8, which is left out. */
  unspeakable(path: string): void;
}

/** One folder on the path to the current file. */
interface Frame {
  readonly path: string;
  readonly depth: number;
  /** The remaining segments of the cursor; none once the walk has passed it. */
  readonly cursor: readonly string[];
  names?: readonly string[];
  only?: FolderNames["only"];
  /** The real path of the folder, if a link leads there. */
  real?: string;
  /** The index of the next name. */
  next: number;
  /** Results for the names from index `aheadFrom` on. */
  ahead: readonly Look[];
  aheadFrom: number;
  /** How many names are checked next. */
  window: number;
}

/** State of one page. */
interface PageState {
  /** Whether subfolders are entered. */
  readonly deep: boolean;
  readonly versions: boolean;
  /** State of the folders above the last folder, after it was checked. */
  above: { readonly parent: string; readonly stamp: readonly Stats[] } | undefined;
}

/** The result for a name: an entry, a folder to enter, a link to follow, or nothing that is served. */
type Look = Entry | "folder" | "link" | "gone" | "unserved";

const maxLimit = 10_000;
/**
 * How many names of a folder are checked together. Few at first, because entering the first subfolder may fill the page; more and more
 * while there are files.
 */
const firstLook = 16;
const lookAhead = 256;
/** The parent folders must be unchanged for this long for plain paths to be safe. */
const quietMs = 50;

/** With more folders on one page, their children are not counted. */
const maxCounted = 200;

export function createWalk(options: FileWalkOptions): FileWalk {
  const { root, confine, disk, names, folderRules, entryOptions = {}, refused, unspeakable } = options;

  function isSettled({ ctimeMs }: FileFacts, now: number): boolean {
    // Every change of a file updates its ctime, and no program can set that.
    return now - ctimeMs >= disk.settleMs;
  }

  /** Includes a version if the next change of the file is certain to have another time stamp. */
  function describe(
    kind: "file" | "folder",
    path: string,
    name: string,
    facts: FileFacts,
    now: number | undefined,
  ): Entry {
    if (kind === "folder") return folderEntry(path, name, facts, entryOptions);
    return fileEntry(path, name, facts, now !== undefined && isSettled(facts, now), entryOptions);
  }

  function nameOf(path: string): string {
    return path === "" ? root.name : path.slice(path.lastIndexOf("/") + 1);
  }

  function entry(path: string, { kind, stats, direct, path: real }: ServedPath): Entry {
    const found = describe(kind, path, nameOf(path), fileFactsOf(stats), fileClockMs());
    return direct ? found : { ...found, reveals: { path: real } };
  }

  /** Changes when anything on the path to a folder is moved or replaced. Undefined if that happened shortly before `began`. */
  function* stampAbove(path: string, began: number): Steps<readonly Stats[] | undefined> {
    const stamp: Stats[] = [];
    for (let above = path; above !== "";) {
      above = above.slice(0, Math.max(0, above.lastIndexOf("/")));
      // Number precision is enough: a move now is dated much later than a folder that was unchanged before.
      const pending = disk.lstatSmall(confine.locate(above));
      const stats = pending instanceof Promise ? yield* settled(pending) : pending;
      if (!stats || kindOf(stats) !== "folder" || began - stats.ctimeMs < quietMs) return undefined;
      stamp.push(stats);
    }
    return stamp;
  }

  /**
   * Checks these names of a visited folder. A path through its handle is always safe, but costs twice as much as a plain one; a plain path
   * is safe while nothing above the folder is moved.
   */
  function* lookAt(
    frame: Frame,
    location: ServedPath,
    some: readonly string[],
    began: number,
    page: PageState,
  ): Steps<readonly Look[]> {
    // Converts immediately: stats take several times the memory of the result.
    const use = (stats: Stats | undefined, name: string) => toLook(frame, name, stats, began, page);
    const isWorthIt = location.direct && disk.settleMs < quietMs && some.length > 3 * frame.depth;
    if (isWorthIt) {
      const parent = frame.path.slice(0, Math.max(0, frame.path.lastIndexOf("/")));
      // The stamp of the previous folder with the same parent is still valid if it is unchanged after this one.
      const isNeighbour = page.above?.parent === parent && frame.path !== "";
      const before = isNeighbour ? page.above?.stamp : yield* stampAbove(frame.path, began);
      if (before !== undefined) {
        const pending = disk.lstats(confine.locate(frame.path), some, use);
        const looks = pending instanceof Promise ? yield* settled(pending) : pending;
        const after = yield* stampAbove(frame.path, began);
        page.above = after && { parent, stamp: after };
        if (isSameStamp(before, after)) return looks;
      }
    }
    return yield* settled(disk.lstats(location.handle, some, use));
  }

  function toLook(
    { path: folder, only }: Frame,
    name: string,
    stats: Stats | undefined,
    began: number,
    { deep, versions }: PageState,
  ): Look {
    if (!stats) return "gone";
    const kind = kindOf(stats);
    const allowed = only?.get(name);
    if (kind === "other" || (allowed !== undefined && allowed !== (kind === "folder" ? asFolder : asFile)))
      return "unserved";
    if (kind === "link" || (kind === "folder" && deep)) return kind;
    return describe(kind, join(folder, name), name, stats, versions ? began : undefined);
  }

  /** Adds the number of children to the folders of a page. */
  function* withCounts(page: Page<Entry> | undefined): Steps<Page<Entry> | undefined> {
    if (!page) return undefined;
    const folders = page.items.filter(({ mimeType }) => mimeType === directoryType);
    if (folders.length === 0 || folders.length > maxCounted) return page;
    const counts = new Map<string, number>();
    for (const { path } of folders) {
      const counted = yield* countAt(path);
      if (counted !== undefined) counts.set(path, counted);
    }
    const items = page.items.map((item) => {
      const children = counts.get(item.path);
      return children === undefined ? item : { ...item, children };
    });
    return { ...page, items };
  }

  function* countAt(path: string): Steps<number | undefined> {
    try {
      return yield* confine.visit(path, count);
    } catch (cause) {
      if (isNothing(cause) || isRefusal(cause)) return undefined;
      throw cause;
    }
  }

  /** Undefined if counting is slow: in large folders, and where links must be followed. */
  function* count(location: ServedPath): Steps<number | undefined> {
    if (location.kind !== "folder" || !disk.isSmall(location.stats)) return undefined;
    const kinds = disk.kinds(location.handle);
    const ruleNames = kinds.flatMap(({ name }) => (folderRules.isRule(name) ? [name] : [])).sort();
    const rules = yield* folderRules.rulesAmong(location, ruleNames);
    if (!rules) return undefined;
    let served = 0;
    for (const { name, kind } of kinds) {
      const verdict = folderRules.verdict(rules, name);
      if (verdict !== 0 && (kind === "link" || name.includes("\ufffd"))) return undefined;
      if (kind !== "other" && (verdict & (kind === "folder" ? asFolder : asFile)) !== 0) served += 1;
    }
    return served;
  }

  /** Checks the next names of a frame; false at the end. */
  function* lookOn(frame: Frame, wanted: number, page: PageState): Steps<boolean> {
    const began = fileClockMs();
    const found = yield* confine.visit(frame.path, function* (location) {
      if (location.kind !== "folder" || (page.deep && !location.direct)) return false;
      if (!frame.names) {
        if (!location.direct) frame.real = location.path;
        ({ names: frame.names, only: frame.only } = yield* names.of(location));
        frame.next = firstFrom(frame.names, frame.cursor[0]);
      }
      const some = frame.names.slice(frame.next, frame.next + Math.min(frame.window, Math.max(firstLook, wanted)));
      frame.ahead = yield* lookAt(frame, location, some, began, page);
      frame.aheadFrom = frame.next;
      const isOfFiles = frame.ahead.at(-1) !== "folder";
      frame.window = isOfFiles ? Math.max(firstLook, Math.min(lookAhead, frame.window * 4)) : firstLook;
      return some.length > 0;
    });
    return found === true;
  }

  function* find(path: string): Steps<Entry | undefined> {
    try {
      return yield* confine.visit(path, (location) => settled(entry(path, location)));
    } catch (cause) {
      if (isNothing(cause) || isRefusal(cause)) return undefined;
      throw cause;
    }
  }

  function* take(request: WalkPageRequest, first: Frame, deep: boolean): Steps<Page<Entry> | undefined> {
    const limit = Math.max(1, Math.min(maxLimit, Math.trunc(request.limit) || 1));
    const pause = createTimeSlices();
    const items: Entry[] = [];
    const frames = [first];
    const page: PageState = { deep, versions: request.versions !== false, above: undefined };
    for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
      if (frame.next >= frame.aheadFrom + frame.ahead.length) {
        if (frame.names && frame.next >= frame.names.length) {
          frames.pop();
          continue;
        }
        const waiting = pause();
        if (waiting) yield waiting;
        if (request.signal.aborted) throw cancelled();
        let isMore = false;
        try {
          isMore = yield* lookOn(frame, limit - items.length, page);
        } catch (cause) {
          if (frame === first || !(isNothing(cause) || isRefusal(cause))) throw cause;
          if (isRefusal(cause)) refused(frame.path);
        }
        if (!isMore) {
          if (frame === first && !frame.names) return undefined;
          frames.pop();
          continue;
        }
      }
      const name = frame.names?.[frame.next] as string;
      const look = frame.ahead[frame.next - frame.aheadFrom];
      frame.next += 1;
      const atCursor = name === frame.cursor[0];
      if (look === undefined || look === "gone" || look === "unserved") {
        if (look === "gone" && name.includes("\ufffd")) unspeakable(join(frame.path, name));
        continue;
      }
      if (look === "folder") {
        const inner = join(frame.path, name);
        frames.push(createFrame(inner, frame.depth + 1, atCursor ? frame.cursor.slice(1) : []));
        continue;
      }
      // The cursor itself was on an earlier page, also if another file is now in its place.
      if (atCursor) continue;
      let found: Entry | undefined = look === "link" ? yield* find(join(frame.path, name)) : look;
      if (!found || (deep && found.size === undefined)) continue;
      if (frame.real !== undefined && !found.reveals) found = { ...found, reveals: { path: join(frame.real, name) } };
      items.push(found);
      if (items.length < limit) continue;
      return frames.some(({ names: all, next }) => next < (all?.length ?? 0))
        ? { items, next: deep ? found.path : name }
        : { items };
    }
    return { items };
  }

  return {
    files: (request) =>
      take(request, createFrame("", 0, request.cursor === undefined ? [] : request.cursor.split("/")), true),
    *children(path, request) {
      const frame = createFrame(path, path.split("/").length, request.cursor === undefined ? [] : [request.cursor]);
      return yield* withCounts(yield* take(request, frame, false));
    },
    entry,
    find,
  };
}

function isSameStamp(before: readonly Stats[], now: readonly Stats[] | undefined): boolean {
  return before.every(({ dev, ino, ctimeMs }, index) => {
    const other = now?.[index];
    return other?.ctimeMs === ctimeMs && other.ino === ino && other.dev === dev;
  });
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function createFrame(path: string, depth: number, cursor: readonly string[]): Frame {
  // If the cursor is below this name, its folder is entered.
  return { path, depth, cursor, next: 0, ahead: [], aheadFrom: 0, window: cursor.length > 1 ? 1 : firstLook };
}

/** The index of the first name that is not before this one. */
function firstFrom(names: readonly string[], name: string | undefined): number {
  if (name === undefined) return 0;
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
