/** Who may write an index: one at a time, of all the processes that have it open. */
import { truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileIdentity } from "../lib/file-identity.ts";
import { isLoss } from "./index-problem.ts";

export interface IndexLease {
  /** False once the file is no longer at its path: then another process may have a lease, too. */
  isHeld(): boolean;
  /** Another may have it from here on. */
  release(): void;
}

/**
 * Undefined while someone else has it. It is a lock of the system on a file of its own: when the process that has it dies, however
 * that may be, it is free at once, and one that is merely slow is never robbed of it. A file that is garbled is emptied.
 */
export function takeLease(file: string): IndexLease | undefined {
  try {
    return tryLease(file);
  } catch (cause) {
    if (!isLoss(cause)) throw cause;
    // Emptied and not removed: a process that takes the same file at this moment keeps its lock. It holds nothing in any case.
    truncateSync(file, 0);
    return tryLease(file);
  }
}

function tryLease(file: string): IndexLease | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return undefined;
    throw cause;
  }
  const identity = fileIdentity(file);
  return {
    isHeld: () => identity !== undefined && fileIdentity(file) === identity,
    release: () => database.close(),
  };
}

const busy = 5;

function isBusy(cause: unknown): boolean {
  // The second byte says what kind of busy it is.
  return cause instanceof Error && "errcode" in cause && (Number(cause.errcode) & 0xff) === busy;
}
