/** The one way from a path to a thing on the disk: below the root and served by its real name, or not there at all. */
import { constants, existsSync, readlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { isNothing, kindOf } from "./disk.ts";
import type { Disk } from "./disk.ts";
import { isServed } from "./serving.ts";
import { settled } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** A file or a folder that was found to be served. Good for the time of the visit. */
export interface Place {
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
  visit<T>(path: string, use: (place: Place) => Steps<T>): Steps<T | undefined>;
  /** Opens a visited file for reading; undefined if it has been replaced. */
  open(place: Place): Steps<number | undefined>;
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

export function createConfine(root: string, disk: Disk, { handles = hasHandles() }: ConfineOptions = {}): Confine {
  const inside = root.endsWith("/") ? root : `${root}/`;
  /** Whether a device holds files, or what the kernel makes up. */
  const devices = new Map<bigint, boolean>();

  function locate(path: string): string {
    return path === "" ? root : inside + path;
  }

  /** Whether a path on the disk is the root, or below it and served. */
  function isWithin(real: string): boolean {
    return real === root || (real.startsWith(inside) && isServed(real.slice(inside.length)));
  }

  function* leadsThroughLink(path: string): Steps<boolean> {
    for (let slash = path.indexOf("/"); ; slash = path.indexOf("/", slash + 1)) {
      const stats = yield* settled(disk.lstat(inside + (slash < 0 ? path : path.slice(0, slash))));
      if (stats && kindOf(stats) === "link") return true;
      if (slash < 0) return false;
    }
  }

  function* toPlace(stats: BigIntStats, real: string, direct: boolean, handle: string): Steps<Place | undefined> {
    const kind = kindOf(stats);
    if (kind !== "file" && kind !== "folder") return undefined;
    let isOfFiles = devices.get(stats.dev);
    if (isOfFiles === undefined) {
      isOfFiles = (yield* settled(disk.kind(handle))) !== "made-up";
      if (devices.size > 1000) devices.clear();
      devices.set(stats.dev, isOfFiles);
    }
    return isOfFiles ? { kind, stats, direct, path: real.slice(inside.length), handle } : undefined;
  }

  /** "again" when the thing moved while it was looked at. */
  function* lookAt(path: string, fd: number): Steps<Place | undefined | "again"> {
    const wanted = locate(path);
    const handle = `/proc/self/fd/${fd}`;
    const real = readlinkSync(handle);
    const stats = yield* settled(disk.fstat(fd));
    // The kernel's word for a thing without a name; a name may end so as well.
    if (real.endsWith(" (deleted)") && !isSame(stats, yield* settled(disk.lstat(real)))) return "again";
    if (real === wanted) return yield* toPlace(stats, real, true, handle);
    if (!isWithin(real)) return undefined;
    // Another name without a link: it was moved just now, or the file system takes one case for another.
    if (!(yield* leadsThroughLink(path))) return "again";
    return yield* toPlace(stats, real, false, handle);
  }

  function* visitByHandle<T>(path: string, use: (place: Place) => Steps<T>): Steps<T | undefined> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const fd = yield* openOrNothing(locate(path), O_PATH);
      if (fd === undefined) return undefined;
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

  function* visitByPath<T>(path: string, use: (place: Place) => Steps<T>): Steps<T | undefined> {
    const wanted = locate(path);
    const real = yield* realPath(wanted);
    if (real === undefined || !isWithin(real)) return undefined;
    const direct = real === wanted;
    if (!direct && !(yield* leadsThroughLink(path))) return undefined;
    const stats = yield* settled(disk.lstat(real));
    const place = stats && (yield* toPlace(stats, real, direct, real));
    return place && (yield* use(place));
  }

  return {
    root,
    locate,

    *visit(path, use) {
      if (!isServed(path)) return undefined;
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
