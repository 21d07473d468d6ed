/** A system lock on a file, which ends with its process. */
import type { DatabaseSync } from "node:sqlite";

/** Referenced here, because the garbage collector would release the lock of a holder that waits for something that never happens. */
const held = new Set<DatabaseSync>();
const busy = 5;

/**
 * Returns the function that releases the lock, or undefined while it is held, by this process or another. It is held until then, or until the
 * process ends, in any way. Creates the file if it is missing; throws if it cannot be locked.
 */
export function holdLock(path: string): (() => void) | undefined {
  // Loaded on first use: most commands need no lock.
  const { DatabaseSync: Database } = process.getBuiltinModule("node:sqlite");
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    // Only the low byte holds the primary result code.
    if ((Number((cause as { readonly errcode?: unknown }).errcode) & 0xff) === busy) return undefined;
    throw cause;
  }
  held.add(database);
  return () => {
    if (held.delete(database)) database.close();
  };
}
