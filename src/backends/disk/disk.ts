/**
 * What is asked of the operating system, twice: at once where the disk is this machine's own, through the thread pool where a
 * dead server could keep the answer waiting for ever. Asking at once costs a fifth of the CPU.
 */
import * as fs from "node:fs";
import type { BigIntStats, Stats } from "node:fs";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Maybe, Steps } from "./steps.ts";

export interface Disk {
  /** How old a time stamp must be before a later change is sure to bear another. */
  readonly settleMs: number;
  /** How long it may be taken for granted that the rules of a folder are what they were. */
  readonly trustMs: number;
  open(path: string, flags: number): Maybe<number>;
  close(fd: number): void;
  fstat(fd: number): Maybe<BigIntStats>;
  /** Undefined where nothing is, or nothing that may be looked at. */
  lstat(path: string): Maybe<BigIntStats | undefined>;
  /** The same in small numbers, which are quicker to make. */
  lstatSmall(path: string): Maybe<Stats | undefined>;
  /** The same of what a link leads to. */
  stat(path: string): Maybe<BigIntStats | undefined>;
  /** What becomes of what `lstat` says of each name in a folder, in small numbers. */
  lstats<T>(folder: string, names: readonly string[], use: (stats: Stats | undefined, name: string) => T): Maybe<T[]>;
  realpath(path: string): Maybe<string>;
  kind(path: string): Maybe<DiskKind>;
  /** Whether a folder is quickly read. */
  isSmall(folder: BigIntStats): boolean;
  /** All that is in a small folder, in no order. */
  kinds(folder: string): readonly { readonly name: string; readonly kind: Kind }[];
  /** The names in a folder in the order of UTF-16 code units. `size` is what the folder itself takes on the disk. */
  names(folder: string, size: number): Steps<string[]>;
  /** All of a file that is about `size` long, or its first `maxBytes + 1`. The bytes may be overwritten by the next question. */
  read(fd: number, size: number, maxBytes: number): Maybe<Buffer>;
  /** The first `maxBytes` of a small file that is no one's to ask for; links count only if they are to be followed. Undefined where none is. */
  content(path: string, maxBytes: number, follow?: boolean): Maybe<SmallFile | undefined>;
}

export interface SmallFile {
  readonly stats: BigIntStats;
  /** May be overwritten by the next question. */
  readonly bytes: Buffer;
}

export type DiskKind = "local" | "remote" | "made-up";

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

/** Above this a read goes through the thread pool on any disk. */
const smallBytes = 64 * 1024;

/** A folder that takes more than this on the disk has thousands of names. */
const bigFolderBytes = 128 * 1024;

const namesPerChunk = 4096;

/** Clocks of two machines, and file systems that count in steps of two seconds. */
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
    realpath: (path) => fs.realpathSync.native(path),
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
      // It grew past what was said of it.
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
    realpath: (path) => answer<string>((done) => fs.realpath.native(path, done)),
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

/** Neither a pipe nor a device is opened, and if one gets in between, it does not keep anyone waiting. */
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

/** What the kernel says of a path where nothing is, or nothing that can be reached. */
export function isNothing(cause: unknown): boolean {
  return nothingCodes.has((cause as NodeJS.ErrnoException).code ?? "");
}

const nothingCodes = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO", "ENODEV", "EILSEQ"]);

/** Whether the system refuses. */
export function isRefusal(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM";
}

/** The names of a folder that may have very many, with pauses: neither reading nor sorting holds the event loop up. */
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

function answer<T>(ask: (done: (cause: NodeJS.ErrnoException | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    ask((cause, value) => (cause ? reject(cause) : resolve(value)));
  });
}

/** File systems whose answers come from this machine. */
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

/** File systems that hold no files of anyone: the kernel makes up what is read from them. */
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

/** What kind of file system the type number of `statfs` stands for. */
export function diskKind(type: number, platform: NodeJS.Platform = process.platform): DiskKind {
  if (platform === "darwin") return localTypesOfMac.has(type) ? "local" : "remote";
  if (platform !== "linux") return "remote";
  // Some systems give the number with its sign.
  const unsigned = type >>> 0;
  if (madeUpTypes.has(unsigned)) return "made-up";
  return localTypes.has(unsigned) ? "local" : "remote";
}
