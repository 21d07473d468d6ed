/** Who may write an index: one at a time, of all the processes that have it open. */
import { DatabaseSync } from "node:sqlite";

export interface Lease {
  /** Another may have it from here on. */
  release(): void;
}

/**
 * Undefined while someone else has it. It is a lock of the system on a file of its own: when the process that has it dies, however
 * that may be, it is free at once, and one that is merely slow is never robbed of it.
 */
export function takeLease(file: string): Lease | undefined {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return undefined;
    throw cause;
  }
  return { release: () => database.close() };
}

const busy = 5;

function isBusy(cause: unknown): boolean {
  // The second byte says what kind of busy it is.
  return cause instanceof Error && "errcode" in cause && (Number(cause.errcode) & 0xff) === busy;
}
