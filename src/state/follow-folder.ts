/** Reports changes of the files of one folder by any process. */
import { statSync, watch } from "node:fs";
import type { Runtime } from "../runtime.ts";

const pollMs = 1000;

/** Armed when it returns. Without notifications of the system, as on some network file systems, it asks every second. */
export function followFolder(
  folder: string,
  changed: () => void,
  { wait }: Pick<Runtime, "wait">,
  signal: AbortSignal,
): void {
  let isPending = false;
  /** Several changes at once are one call. */
  function report(): void {
    if (isPending || signal.aborted) return;
    isPending = true;
    setImmediate(() => {
      isPending = false;
      if (!signal.aborted) changed();
    });
  }

  try {
    // Files are written under a hidden name first.
    const watcher = watch(folder, { signal, persistent: false }, (_event, name) => {
      if (name === null || !name.startsWith(".")) report();
    });
    watcher.on("error", () => {
      watcher.close();
      report();
      void poll();
    });
  } catch {
    void poll();
  }

  async function poll(): Promise<void> {
    for (let stamp = stampOf(folder); !signal.aborted;) {
      await wait(pollMs, signal).catch(() => undefined);
      const next = stampOf(folder);
      if (next !== stamp) report();
      stamp = next;
    }
  }
}

/** A folder is changed by every file that is created, replaced or removed in it. */
function stampOf(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.ino} ${stats.mtimeNs}` : "";
}
