/** Ensures that only one process at a time writes an index. */
import { truncateSync } from "node:fs";
import { fileIdentity } from "../lib/file-identity.ts";
import { holdLock } from "../lib/hold-lock.ts";
import { isLoss } from "./index-problem.ts";

export interface IndexLease {
  /** False once the file is no longer at its path: then another process may hold a lease, too. */
  isHeld(): boolean;
  /** Frees the lease for others. */
  release(): void;
}

/**
 * Undefined while another holds it. It is a system lock on its own file: when its process dies for any reason, it is free
 * immediately, and a slow process never loses it. A corrupt file is emptied.
 */
export function takeLease(file: string): IndexLease | undefined {
  try {
    return tryLease(file);
  } catch (cause) {
    if (!isLoss(cause)) throw cause;
    // Emptied and not removed: a process that locks the same file at this moment keeps its lock. The file holds no data.
    truncateSync(file, 0);
    return tryLease(file);
  }
}

function tryLease(file: string): IndexLease | undefined {
  const release = holdLock(file);
  if (!release) return undefined;
  const identity = fileIdentity(file);
  return { isHeld: () => identity !== undefined && fileIdentity(file) === identity, release };
}
