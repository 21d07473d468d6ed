/** A lock between all processes of this user that change the same file. */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { holdLock } from "./hold-lock.ts";

interface FileLockOptions {
  /** Folder of the locks, shared by all processes. Created if missing. */
  readonly folder: string;
  /** How long to wait for the lock. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const lookMs = 20;

/**
 * Runs the work while no other process runs work for the same file. The lock is a system lock on a separate file: it is released as soon as
 * its process ends, in any way. Throws what the work throws; a `FileLockError` if the work did not start.
 */
export async function withFileLock<T>(
  file: string,
  work: () => T | Promise<T>,
  { folder, timeoutMs = 30_000, signal }: FileLockOptions,
): Promise<T> {
  const path = lockPath(file, folder);
  let release = tryLock(path);
  for (let waitedMs = 0; release === undefined; waitedMs += lookMs) {
    signal?.throwIfAborted();
    if (waitedMs >= timeoutMs)
      throw new FileLockError(`another process holds the lock on ${JSON.stringify(file)}; try again later`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
    release = tryLock(path);
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the lock if it is free. It is held until the returned function is called, or this process ends. */
export function tryFileLock(file: string, folder: string): (() => void) | undefined {
  return tryLock(lockPath(file, folder));
}

export class FileLockError extends Error {}

function lockPath(file: string, folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new FileLockError(`cannot create the folder ${JSON.stringify(folder)}; check its permissions`, { cause });
  }
  return join(folder, `${createHash("sha256").update(file).digest("hex").slice(0, 32)}.lock`);
}

/** Undefined while another process holds it. */
function tryLock(path: string): (() => void) | undefined {
  // Readable only by its owner.
  closeSync(openSync(path, "a", 0o600));
  try {
    return holdLock(path);
  } catch (cause) {
    throw new FileLockError(
      `the lock ${JSON.stringify(path)} cannot be used; remove it, and it will be created again`,
      {
        cause,
      },
    );
  }
}
