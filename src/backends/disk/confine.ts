/** The only access from a path to a file on the disk: it must be below the root and served under its real name, else it does not exist. */
import { constants, existsSync, readlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { isNothing, kindOf } from "./disk.ts";
import type { Disk } from "./disk.ts";
import type { FolderRules } from "../folder-rules/folder-rules.ts";
import { settled } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** A file or folder that may be served. Valid during the visit. */
export interface ServedPath {
  readonly kind: "file" | "folder";
  readonly stats: BigIntStats;
  /** Whether the path contains no links. */
  readonly direct: boolean;
  /** The path without links. */
  readonly path: string;
  /** Refers to the file that was checked, even if its path has been replaced since. */
  readonly handle: string;
}

export interface Confine {
  /** The real path of the root. */
  readonly root: string;
  /** Where a path would be on the disk. */
  locate(path: string): string;
  /** Returns undefined without calling `use` if nothing is served at the path. */
  visit<T>(path: string, use: (location: ServedPath) => Steps<T>): Steps<T | undefined>;
  /** Opens a visited file for reading; undefined if it has been replaced. */
  open(location: ServedPath): Steps<number | undefined>;
}

interface ConfineOptions {
  /**
   * Whether file descriptors can be opened by name (`/proc/self/fd`). With them, a replacement between check and read has no effect;
   * without them, each step is checked twice.
   */
  readonly handles?: boolean;
}

/** Only refers to the file without opening it: no device, pipe or server is affected. */
const O_PATH = 0o10000000;

/** A file that is replaced again and again during a read is still served. */
const attempts = 8;

function hasHandles(): boolean {
  return process.platform === "linux" && existsSync("/proc/self/fd");
}

export function createConfine(
  root: string,
  disk: Disk,
  folderRules: Pick<FolderRules, "isPath" | "serves" | "trusted">,
  { handles = hasHandles() }: ConfineOptions = {},
): Confine {
  const inside = root.endsWith("/") ? root : `${root}/`;
  /** Device → whether it holds real files, not a virtual file system. */
  const devices = new Map<bigint, boolean>();

  function locate(path: string): string {
    return path === "" ? root : inside + path;
  }

  /** The path below the root of a path on the disk, or undefined if it is elsewhere. */
  function pathOf(real: string): string | undefined {
    if (real === root) return "";
    return real.startsWith(inside) ? real.slice(inside.length) : undefined;
  }

  /**
   * Whether links lead here, and each of them is in a served location. "direct" if there is none: the file was moved in between, or the
   * file system accepts several spellings of a name.
   */
  function* reachedVia(path: string): Steps<"links" | "direct" | "unserved"> {
    let via: "links" | "direct" = "direct";
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
        via = "links";
        at = led;
      } else {
        at = next;
      }
    }
    return via;
  }

  /** Undefined if it is not served, or is neither a file nor a folder. */
  function* toServedPath(
    stats: BigIntStats,
    path: string,
    direct: boolean,
    handle: string,
  ): Steps<ServedPath | undefined> {
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

  /** "again" if the file moved during the check. */
  function* lookAt(path: string, fd: number): Steps<ServedPath | undefined | "again"> {
    const wanted = locate(path);
    const handle = `/proc/self/fd/${fd}`;
    const real = readlinkSync(handle);
    const asked = disk.fstat(fd);
    const stats = asked instanceof Promise ? yield* settled(asked) : asked;
    // The kernel marks a deleted file this way; but a real name may also end so.
    if (real.endsWith(" (deleted)") && !isSame(stats, yield* settled(disk.lstat(real)))) return "again";
    if (real === wanted) return yield* toServedPath(stats, path, true, handle);
    const led = pathOf(real);
    if (led === undefined) return undefined;
    const via = yield* reachedVia(path);
    if (via === "links") return yield* toServedPath(stats, led, false, handle);
    return via === "direct" ? "again" : undefined;
  }

  function* visitByHandle<T>(path: string, use: (location: ServedPath) => Steps<T>): Steps<T | undefined> {
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
        const location = yield* lookAt(path, fd);
        if (location === undefined) return undefined;
        if (location !== "again") return yield* use(location);
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

  function* visitByPath<T>(path: string, use: (location: ServedPath) => Steps<T>): Steps<T | undefined> {
    const wanted = locate(path);
    const real = yield* realPath(wanted);
    const led = real === undefined ? undefined : pathOf(real);
    if (real === undefined || led === undefined) return undefined;
    const direct = real === wanted;
    if (!direct && (yield* reachedVia(path)) !== "links") return undefined;
    const stats = yield* settled(disk.lstat(real));
    const location = stats && (yield* toServedPath(stats, led, direct, real));
    return location && (yield* use(location));
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
