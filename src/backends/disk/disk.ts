/**
 * Disk access in two variants: synchronous on a local disk, which needs a fifth of the CPU time, and through the thread pool on a remote
 * disk, where a dead server could block a call for ever.
 */
import * as fs from "node:fs";
import type { BigIntStats, Stats } from "node:fs";
import { createTimeSlices } from "../../lib/time-slices.ts";
import { withSlashes } from "../../lib/with-slashes.ts";
import type { Maybe, Steps } from "./steps.ts";

export interface Disk {
  /** A time stamp older than this is certain to differ after a later change. */
  readonly settleMs: number;
  /** How long the rules of a folder may be assumed unchanged without a check. */
  readonly trustMs: number;
  open(path: string, flags: number): Maybe<number>;
  close(fd: number): void;
  fstat(fd: number): Maybe<BigIntStats>;
  /** Undefined if nothing exists at the path, or it may not be accessed. */
  lstat(path: string): Maybe<BigIntStats | undefined>;
  /** Same as `lstat`, with numbers instead of bigints, which is faster. */
  lstatSmall(path: string): Maybe<Stats | undefined>;
  /** Same as `lstat`, but follows links. */
  stat(path: string): Maybe<BigIntStats | undefined>;
  /** Calls `use` with the `lstat` result of each name in a folder. */
  lstats<T>(folder: string, names: readonly string[], use: (stats: Stats | undefined, name: string) => T): Maybe<T[]>;
  /** With slashes on every system. */
  realpath(path: string): Maybe<string>;
  kind(path: string): Maybe<DiskKind>;
  /** Whether a folder can be read quickly. */
  isSmall(folder: BigIntStats): boolean;
  /** All names in a small folder, unsorted. */
  kinds(folder: string): readonly { readonly name: string; readonly kind: Kind }[];
  /** The names in a folder, sorted by UTF-16 code units. `size` is the size of the folder itself on the disk. */
  names(folder: string, size: number): Steps<string[]>;
  /** The whole file of about `size` bytes, or its first `maxBytes + 1` bytes. The next read may overwrite the buffer. */
  read(fd: number, size: number, maxBytes: number): Maybe<Buffer>;
  /**
   * The first `maxBytes` bytes of a small file for internal use. Undefined if there is none, or if it is a link and `follow` is not set.
   */
  content(path: string, maxBytes: number, follow?: boolean): Maybe<SmallFile | undefined>;
}

interface SmallFile {
  readonly stats: BigIntStats;
  /** The next read may overwrite it. */
  readonly bytes: Buffer;
}

type DiskKind = "local" | "remote" | "made-up";

export type Kind = "file" | "folder" | "link" | "other";

export function kindOf({ mode }: { readonly mode: bigint | number }): Kind {
  switch (Number(mode) & fs.constants.S_IFMT) {
    case fs.constants.S_IFREG:
      return "file";
    case fs.constants.S_IFDIR:
      return "folder";
    case fs.constants.S_IFLNK:
      return "link";
    default:
      return "other";
  }
}

/** Larger reads use the thread pool on every disk. */
const smallBytes = 64 * 1024;

/** A folder that is larger than this on the disk has thousands of names. */
const bigFolderBytes = 128 * 1024;

const namesPerChunk = 4096;

/** Allows for clock differences between machines, and for file systems with two-second time stamps. */
export const remoteSettleMs = 3000;

const lstatOptions = { bigint: true, throwIfNoEntry: false } as const;
const lstatSmallOptions = { throwIfNoEntry: false } as const;

export function createLocalDisk(): Disk {
  const scratch = Buffer.allocUnsafeSlow(smallBytes + 1);

  return {
    settleMs: 20,
    trustMs: 5,
    open: (path, flags) => fs.openSync(path, flags),
    close: (fd) => fs.closeSync(fd),
    fstat: (fd) => fs.fstatSync(fd, { bigint: true }),
    lstat: lstatNow,
    lstatSmall,
    stat: statNow,
    lstats: (folder, names, use) => names.map((name) => use(lstatSmall(`${folder}/${name}`), name)),
    realpath: (path) => withSlashes(fs.realpathSync.native(path)),
    kind: (path) => diskKind(fs.statfsSync(path).type),
    isSmall: ({ size }) => size <= bigFolderBytes,
    kinds: (folder) =>
      fs.readdirSync(folder, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: direntKind(entry) })),
    *names(folder, size) {
      return size > bigFolderBytes ? yield* namesInChunks(folder) : fs.readdirSync(folder).sort();
    },
    read(fd, size, maxBytes) {
      if (size > smallBytes) return readWhole(fd, size, maxBytes);
      const length = fs.readSync(fd, scratch, 0, scratch.length, 0);
      // The file has grown since `size` was measured.
      return length > smallBytes ? readWhole(fd, length, maxBytes) : scratch.subarray(0, length);
    },
    content: contentNow,
  };
}

export function createRemoteDisk(): Disk {
  return {
    settleMs: remoteSettleMs,
    trustMs: 1000,
    open: (path, flags) => answer<number>((done) => fs.open(path, flags, done)),
    close: (fd) => fs.close(fd, () => undefined),
    fstat: (fd) => answer<BigIntStats>((done) => fs.fstat(fd, { bigint: true }, done)),
    lstat: lstatLater,
    lstatSmall: lstatSmallLater,
    stat: statLater,
    lstats: (folder, names, use) =>
      Promise.all(names.map(async (name) => use(await lstatSmallLater(`${folder}/${name}`), name))),
    realpath: async (path) => withSlashes(await answer<string>((done) => fs.realpath.native(path, done))),
    kind: async (path) => diskKind((await fs.promises.statfs(path)).type),
    isSmall: () => false,
    kinds: () => [],
    *names(folder) {
      return ((yield fs.promises.readdir(folder)) as string[]).sort();
    },
    read: readWhole,
    content: contentLater,
  };
}

/** Never opens pipes or devices; O_NONBLOCK keeps a pipe that appears in between from blocking. */
const contentFlags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

function contentNow(path: string, maxBytes: number, follow = false): SmallFile | undefined {
  try {
    const found = follow ? statNow(path) : lstatNow(path);
    if (!found || kindOf(found) !== "file") return undefined;
    const fd = fs.openSync(path, contentFlags | (follow ? 0 : fs.constants.O_NOFOLLOW));
    try {
      const stats = fs.fstatSync(fd, { bigint: true });
      if (kindOf(stats) !== "file") return undefined;
      const bytes = Buffer.allocUnsafe(Math.min(Number(stats.size) + 1, maxBytes));
      let length = 0;
      while (length < bytes.length) {
        const count = fs.readSync(fd, bytes, length, bytes.length - length, length);
        if (count === 0) break;
        length += count;
      }
      return { stats, bytes: bytes.subarray(0, length) };
    } finally {
      fs.closeSync(fd);
    }
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

async function contentLater(path: string, maxBytes: number, follow = false): Promise<SmallFile | undefined> {
  try {
    const found = await (follow ? statLater(path) : lstatLater(path));
    if (!found || kindOf(found) !== "file") return undefined;
    const file = await fs.promises.open(path, contentFlags | (follow ? 0 : fs.constants.O_NOFOLLOW));
    try {
      const stats = await file.stat({ bigint: true });
      if (kindOf(stats) !== "file") return undefined;
      const bytes = await readWhole(file.fd, Number(stats.size), maxBytes);
      return { stats, bytes: bytes.subarray(0, maxBytes) };
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

export function direntKind(entry: fs.Dirent): Kind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

function lstatNow(path: string): BigIntStats | undefined {
  try {
    return fs.lstatSync(path, lstatOptions);
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

async function lstatLater(path: string): Promise<BigIntStats | undefined> {
  try {
    return await fs.promises.lstat(path, { bigint: true });
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

function lstatSmall(path: string): Stats | undefined {
  try {
    return fs.lstatSync(path, lstatSmallOptions);
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

async function lstatSmallLater(path: string): Promise<Stats | undefined> {
  try {
    return await fs.promises.lstat(path);
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

function statNow(path: string): BigIntStats | undefined {
  try {
    return fs.statSync(path, lstatOptions);
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

async function statLater(path: string): Promise<BigIntStats | undefined> {
  try {
    return await fs.promises.stat(path, { bigint: true });
  } catch (cause) {
    if (isNothing(cause) || isRefusal(cause)) return undefined;
    throw cause;
  }
}

/** Whether the error means that nothing exists at the path, or that it cannot be reached. */
export function isNothing(cause: unknown): boolean {
  return nothingCodes.has((cause as NodeJS.ErrnoException).code ?? "");
}

const nothingCodes = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO", "ENODEV", "EILSEQ"]);

/** Whether the error means that permission was denied. */
export function isRefusal(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM";
}

/** The names of a folder that may have very many. Reads and sorts with pauses, so that the event loop is not blocked. */
function* namesInChunks(folder: string): Steps<string[]> {
  const pause = createTimeSlices();
  let runs: string[][] = [];
  const dir = fs.opendirSync(folder, { bufferSize: 1024 });
  try {
    for (let chunk: string[] = []; ;) {
      const found = dir.readSync();
      if (found) chunk.push(found.name);
      if (!found || chunk.length === namesPerChunk) {
        runs.push(chunk.sort());
        chunk = [];
        const waiting = pause();
        if (waiting) yield waiting;
      }
      if (!found) break;
    }
  } finally {
    dir.closeSync();
  }
  while (runs.length > 1) {
    const longer: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      longer.push(merge(runs[index] ?? [], runs[index + 1] ?? []));
      const waiting = pause();
      if (waiting) yield waiting;
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function merge(left: readonly string[], right: readonly string[]): string[] {
  const merged: string[] = [];
  let next = 0;
  for (const name of left) {
    for (; next < right.length && (right[next] as string) < name; next += 1) merged.push(right[next] as string);
    merged.push(name);
  }
  for (; next < right.length; next += 1) merged.push(right[next] as string);
  return merged;
}

async function readWhole(fd: number, size: number, maxBytes: number): Promise<Buffer> {
  let buffer = Buffer.allocUnsafeSlow(Math.min(size, maxBytes) + 1);
  let length = 0;
  for (;;) {
    const free = buffer.length - length;
    const count = await answer<number>((done) => fs.read(fd, buffer, length, free, length, done));
    length += count;
    if (count === 0 || length > maxBytes) return buffer.subarray(0, length);
    if (length < buffer.length) continue;
    const larger = Buffer.allocUnsafeSlow(Math.min(buffer.length * 2, maxBytes + 1));
    buffer.copy(larger);
    buffer = larger;
  }
}

function answer<T>(start: (done: (cause: NodeJS.ErrnoException | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((cause, value) => (cause ? reject(cause) : resolve(value)));
  });
}

/** Local file systems. */
const localTypes = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x858458f6, // ramfs
  0x73717368, // squashfs
  0xe0f5e1e2, // erofs
]);

const localTypesOfMac = new Set([
  0x1a, // apfs
  0x11, // hfs
]);

/** Virtual file systems, whose contents the kernel generates. */
const madeUpTypes = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x63677270, // cgroup2
  0x27e0eb, // cgroup
  0x73636673, // securityfs
  0xf97cff8c, // selinuxfs
  0xcafe4a11, // bpf
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0x42494e4d, // binfmt_misc
  0x1cd1, // devpts
  0x19800202, // mqueue
  0x958458f6, // hugetlbfs
  0x62656570, // configfs
  0x65735543, // fusectl
  0x6e736673, // nsfs
]);

/** The kind of file system for a type number of `statfs`. */
export function diskKind(type: number, platform: NodeJS.Platform = process.platform): DiskKind {
  if (platform === "darwin") return localTypesOfMac.has(type) ? "local" : "remote";
  if (platform !== "linux") return "remote";
  // Some systems return a negative number.
  const unsigned = type >>> 0;
  if (madeUpTypes.has(unsigned)) return "made-up";
  return localTypes.has(unsigned) ? "local" : "remote";
}
