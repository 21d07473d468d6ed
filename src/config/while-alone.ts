/** Changes to a person's files, one process at a time: what one reads, compares and writes, no other changes meanwhile. */
import { join } from "node:path";
import { ResourceError } from "../errors.ts";
import { FileLockError, withFileLock } from "../lib/file-lock.ts";
import { realPath } from "./trust.ts";

/** Throws "busy" where another process does not finish. The locks are in the state folder, for all processes of the person. */
export async function whileAlone<T>(file: string, stateFolder: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withFileLock(realPath(file), work, { folder: join(stateFolder, "locks") });
  } catch (cause) {
    if (cause instanceof FileLockError) throw new ResourceError("busy", cause.message, { cause });
    throw cause;
  }
}
