/** The files of an index on disk: the database, the lease of its writer, and the status. */
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, truncateSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileClockMs } from "../lib/file-clock-ms.ts";
import { fileIdentity, statOf } from "../lib/file-identity.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import { type IndexStatus, statusAfter } from "./status.ts";

export type IndexFolder = ReturnType<typeof indexFolder>;

export function indexFolder(folder: string) {
  const database = join(folder, "index.db");
  const lock = join(folder, "lock.db");
  const status = join(folder, "status.json");
  const draft = `${status}.draft`;
  const closed = join(folder, "closed");
  const log = `${database}-wal`;
  const files = [database, log, `${database}-shm`, `${database}-journal`];
  const all = [...files, status, draft, closed, join(folder, "about.json"), lock, `${lock}-journal`];
  /** Changes whenever any process writes the database or its log; undefined if there is no database. */
  function stamp(): string | undefined {
    const identity = fileIdentity(database);
    if (identity === undefined) return undefined;
    return [identity, ...[database, log].map(writtenAt)].join(" ");
  }

  function storedStatus(): { readonly status: IndexStatus; readonly ageMs: number } | undefined {
    try {
      const ageMs = fileClockMs() - statSync(status).mtimeMs;
      return { status: JSON.parse(readFileSync(status, "utf8")) as IndexStatus, ageMs };
    } catch {
      return undefined;
    }
  }

  return {
    database,
    lock,
    stamp,

    /** Creates the folder, private to its owner because an index holds the indexed text. Returns the paths of obstacles moved aside. */
    prepare(): readonly string[] {
      const moved = isOther(folder, "folder") ? moveAside(folder) : [];
      makeFolder(folder);
      return [...moved, ...all.filter((file) => isOther(file, "file")).flatMap(moveAside)];
    },

    /** Paths of things in the way of the files of an index, such as folders. */
    obstacles: (): readonly string[] =>
      isOther(folder, "folder") ? [folder] : all.filter((file) => isOther(file, "file")),

    /** Size on disk of all files together. */
    bytes: (): number => files.reduce((sum, file) => sum + Number(statOf(file)?.size ?? 0), 0),

    /** The last status that the writer of the index stored: incomplete if it has not confirmed it for some seconds. */
    readStatus(): IndexStatus | undefined {
      const stored = storedStatus();
      return stored && statusAfter(stored.status, stored.ageMs);
    },

    /** The same when no process writes the index, as it was then. */
    storedStatus,

    writeStatus(now: IndexStatus | undefined): void {
      if (now === undefined) return rmSync(status, { force: true });
      try {
        writeFileAtomically(status, JSON.stringify(now), { isLasting: false });
      } catch (cause) {
        // No status is better than an outdated one.
        rmSync(status, { force: true });
        throw cause;
      }
    },

    /** Confirms the stored status, if there is one. */
    confirmStatus(): void {
      try {
        const seconds = fileClockMs() / 1000;
        utimesSync(status, seconds, seconds);
      } catch {
        // An old status counts as incomplete.
      }
    },

    /** Records that the database was closed in order. Only for the holder of the lease, like all methods below. */
    markClosed(): void {
      const now = stamp();
      if (now !== undefined) writeFileAtomically(closed, now, { isLasting: false });
    },

    /** Returns whether the database is as it was when it was closed in order, and removes the record: a crash leaves none. */
    takeClosed(): boolean {
      try {
        return readFileSync(closed, "utf8") === stamp();
      } catch {
        return false;
      } finally {
        rmSync(closed, { force: true });
      }
    },

    /** The next to open the database checks it. For anyone. */
    forgetClosed(): void {
      rmSync(closed, { force: true });
    },

    removeDatabase(): void {
      for (const file of [...files, status]) rmSync(file, { force: true });
    },

    /** Removes all files of an index, and the folder if it is empty then. */
    remove(): void {
      for (const file of all) rmSync(file, { force: true });
      try {
        rmdirSync(folder);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw cause;
      }
    },

    /** Call before the database is used. See `createSharedMemoryGuard`. */
    guardSharedMemory: createSharedMemoryGuard(`${database}-shm`),
  };
}

/** Private to its owner. Unlike `mkdirSync` with `recursive`, it fails with the real reason: on a read-only disk that reports ENOENT. */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    // Another process may have created it meanwhile.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw cause;
  }
}

/** An empty log counts as none: a process that only reads the database leaves one. */
function writtenAt(path: string): string {
  const stats = statOf(path);
  return stats && stats.size > 0n ? `${stats.size}-${stats.mtimeNs}` : "none";
}

/** True if something of another kind has this path. */
function isOther(path: string, kind: "file" | "folder"): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !(kind === "file" ? stats.isFile() : stats.isDirectory());
}

/** Returns the new path. An empty folder is removed instead. */
function moveAside(path: string): readonly string[] {
  try {
    rmdirSync(path);
    return [];
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOTDIR") throw cause;
  }
  let aside = `${path}.aside`;
  for (let count = 2; statSync(aside, { throwIfNoEntry: false }); count += 1) aside = `${path}.aside-${count}`;
  renameSync(path, aside);
  return [aside];
}

/**
 * SQLite maps this file into memory. If another program truncates it, the next access would kill the process with SIGBUS. So the
 * file is extended to its former length: SQLite treats the zeros as a stale copy, and rebuilds it from the log.
 */
function createSharedMemoryGuard(file: string): () => void {
  let identity: string | undefined;
  let size = 0;
  return () => {
    const now = fileIdentity(file);
    const nowSize = Number(statOf(file)?.size ?? 0);
    if (now !== identity) [identity, size] = [now, 0];
    if (nowSize < size) truncateSync(file, size);
    else size = nowSize;
  };
}
