/** Notifications of the system about one folder. */
import { type FSWatcher, watch } from "node:fs";

/** Reports names in the folder that may have changed; null for any. Undefined if the folder cannot be watched: then it must be polled. */
export function watchFolder(folder: string, heard: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => heard(name));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
