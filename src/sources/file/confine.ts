/** The one way from a path to a thing on the disk: below the root and served by its real name, or not there at all. */
import { constants, existsSync, readlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { isNothing, kindOf } from "../../backends/disk/disk.ts";
import type { Disk } from "../../backends/disk/disk.ts";
import type { FolderRules } from "../../backends/folder-rules/folder-rules.ts";
import { settled } from "../../backends/disk/steps.ts";
import type { Steps } from "../../backends/disk/steps.ts";

/** A file or a folder that was found to be served. Good for the time of the visit. */
export interface ServedPath {
  readonly kind: "file" | "folder";
  readonly stats: BigIntStats;
  /** Whether the path leads here by itself, without a link on the way. */
  readonly direct: boolean;
  /** The path that leads here by itself. */
  readonly path: string;
  /** Leads to the thing that was judged, whatever has happened to its path since. */
  readonly handle: string;
}

export interface Confine {
  /** The real path of the root. */
  readonly root: string;
  /** Where a path would be on the disk. */
  locate(path: string): string;
  /** Undefined, without a call to `use`, where nothing is that is served. */
  visit<T>(path: string, use: (place: ServedPath) => Steps<T>): Steps<T | undefined>;
  /** Opens a visited file for reading; undefined if it has been replaced. */
  open(place: ServedPath): Steps<number | undefined>;
}

export interface ConfineOptions {
  /**
   * Whether descriptors can be followed by name (`/proc/self/fd`). With them, what is replaced between the look and the
   * reading changes nothing; without, each step is looked at twice.
   */
  readonly handles?: boolean;
}

/** Opens nothing, only points: no device, pipe or server notices. */
const O_PATH = 0o10000000;

/** A file that is replaced again and again under the eyes of a reader is there all the same. */
const attempts = 8;

export function hasHandles(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/fd");
}

export function createConfine(
  root: string,
  disk: Disk,
  folderRules: Pick<FolderRules, "isPath" | "serves" | "trusted">,
  { handles = hasHandles() }: ConfineOptions = {},
): Confine {
  const inside = root.endsWith("/") ? root : `${root}/`;
  /** Whether a device holds files, or what the kernel makes up. */
  const devices = new Map<bigint, boolean>();

  function locate(path: string): string {
    return path === "" ? root : inside + path;
  }

  /** The path below the root of what is on the disk, or undefined if it is elsewhere. */
  function pathOf(real: string): string | undefined {
    if (real === root) return "";
    return real.startsWith(inside) ? real.slice(inside.length) : undefined;
  }

  /**
   * Whether links lead here, and each of them stands where it is served. "direct" if there is none: the thing was moved just
   * now, or the file system takes one spelling of a name for another.
   */
  function* wayOf(path: string): Steps<"links" | "direct" | "unserved"> {
    let way: "links" | "direct" = "direct";
    let at = "";
    for (const name of path.split("/")) {
      const next = at === "" ? name : `${at}/${name}`;
      const stats = yield* settled(disk.lstat(locate(next)));
      if (!stats) return "direct";
      const kind = kindOf(stats);
      if (!(yield* folderRules.serves(next, kind === "folder"))) return "unserved";
      if (kind === "link") {
        const real = yield* realPath(locate(next));
        const led = real === undefined ? undefined : pathOf(real);
        if (led === undefined) return "unserved";
        way = "links";
        at = led;
      } else {
        at = next;
      }
    }
    return way;
  }

  /** Undefined for what is not served, or is neither a file nor a folder. */
  function* toPlace(stats: BigIntStats, path: string, direct: boolean, handle: string): Steps<ServedPath | undefined> {
    const kind = kindOf(stats);
    if (kind !== "file" && kind !== "folder") return undefined;
    const isFolder = kind === "folder";
    if (!(folderRules.trusted(path, isFolder) ?? (yield* folderRules.serves(path, isFolder)))) return undefined;
    let isOfFiles = devices.get(stats.dev);
    if (isOfFiles === undefined) {
      isOfFiles = (yield* settled(disk.kind(handle))) !== "made-up";
      if (devices.size > 1000) devices.clear();
      devices.set(stats.dev, isOfFiles);
    }
    return isOfFiles ? { kind, stats, direct, path, handle } : undefined;
  }

  /** "again" when the thing moved while it was looked at. */
  function* lookAt(path: string, fd: number): Steps<ServedPath | undefined | "again"> {
    const wanted = locate(path);
    const handle = `/proc/self/fd/${fd}`;
    const real = readlinkSync(handle);
    const asked = disk.fstat(fd);
    const stats = asked instanceof Promise ? yield* settled(asked) : asked;
    // The kernel's word for a thing without a name; a name may end so as well.
    if (real.endsWith(" (deleted)") && !isSame(stats, yield* settled(disk.lstat(real)))) return "again";
    if (real === wanted) return yield* toPlace(stats, path, true, handle);
    const led = pathOf(real);
    if (led === undefined) return undefined;
    const way = yield* wayOf(path);
    if (way === "links") return yield* toPlace(stats, led, false, handle);
    return way === "direct" ? "again" : undefined;
  }

  function* visitByHandle<T>(path: string, use: (place: ServedPath) => Steps<T>): Steps<T | undefined> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      let fd: number | undefined;
      try {
        const asked = disk.open(locate(path), O_PATH);
        fd = asked instanceof Promise ? yield* settled(asked) : asked;
      } catch (cause) {
        if (isNothing(cause)) return undefined;
        throw cause;
      }
      try {
        const place = yield* lookAt(path, fd);
        if (place === undefined) return undefined;
        if (place !== "again") return yield* use(place);
      } finally {
        disk.close(fd);
      }
    }
    return undefined;
  }

  function* openOrNothing(path: string, flags: number): Steps<number | undefined> {
    try {
      return yield* settled(disk.open(path, flags));
    } catch (cause) {
      if (isNothing(cause)) return undefined;
      throw cause;
    }
  }

  function* realPath(path: string): Steps<string | undefined> {
    try {
      return yield* settled(disk.realpath(path));
    } catch (cause) {
      if (isNothing(cause)) return undefined;
      throw cause;
    }
  }

  function* visitByPath<T>(path: string, use: (place: ServedPath) => Steps<T>): Steps<T | undefined> {
    const wanted = locate(path);
    const real = yield* realPath(wanted);
    const led = real === undefined ? undefined : pathOf(real);
    if (real === undefined || led === undefined) return undefined;
    const direct = real === wanted;
    if (!direct && (yield* wayOf(path)) !== "links") return undefined;
    const stats = yield* settled(disk.lstat(real));
    const place = stats && (yield* toPlace(stats, led, direct, real));
    return place && (yield* use(place));
  }

  return {
    root,
    locate,

    *visit(path, use) {
      if (!folderRules.isPath(path)) return undefined;
      return yield* handles ? visitByHandle(path, use) : visitByPath(path, use);
    },

    *open({ handle, stats }) {
      if (handles) return yield* openOrNothing(handle, constants.O_RDONLY);
      const fd = yield* openOrNothing(handle, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (fd === undefined) return undefined;
      const isStill = isSame(stats, yield* settled(disk.fstat(fd))) && (yield* realPath(handle)) === handle;
      if (isStill) return fd;
      disk.close(fd);
      return undefined;
    },
  };
}

function isSame(stats: BigIntStats, other: BigIntStats | undefined): boolean {
  return other !== undefined && stats.ino === other.ino && stats.dev === other.dev;
}
