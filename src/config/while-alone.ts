/** Locks a user's file across processes while it is read, compared and written. */
import { join } from "node:path";
import { ResourceError } from "../errors.ts";
import { FileLockError, withFileLock } from "../lib/file-lock.ts";
import { realPath } from "../lib/real-path.ts";

/** Throws "busy" if another process does not finish. Locks are in the state folder, shared by all processes of the user. */
export async function whileAlone<T>(file: string, stateFolder: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withFileLock(realPath(file), work, { folder: join(stateFolder, "locks") });
  } catch (cause) {
    if (cause instanceof FileLockError) throw new ResourceError("busy", cause.message, { cause });
    throw cause;
  }
}
