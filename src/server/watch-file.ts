/** Notices that a file is another than before, however it was saved. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../source.ts";

/** An editor that saves takes several steps. */
const quietMs = 50;
/** Where the system says nothing (network folders, a link to elsewhere), looking now and then does. */
const lookMs = 5000;

/**
 * Calls `changed`, one call after the other, when the file has changed. A file that is gone changes when it is back. Resolves when
 * the signal has ended.
 */
export async function watchFile(
  file: string,
  changed: () => Promise<void>,
  { runtime, signal }: { readonly runtime: Runtime; readonly signal: AbortSignal },
): Promise<void> {
  let seen = stampOf(file);
  let nudged = false;
  let wake: (() => void) | undefined;
  const watcher = watchFolder(dirname(file), () => {
    nudged = true;
    wake?.();
  });

  async function untilSomethingHappens(): Promise<void> {
    if (nudged) return;
    const woken = new AbortController();
    wake = () => woken.abort();
    signal.addEventListener("abort", wake, { once: true });
    await runtime.wait(lookMs, woken.signal).catch(() => undefined);
    signal.removeEventListener("abort", wake);
    wake = undefined;
  }

  try {
    while (!signal.aborted) {
      await untilSomethingHappens();
      if (nudged) await runtime.wait(quietMs, signal).catch(() => undefined);
      nudged = false;
      const stamp = stampOf(file);
      if (signal.aborted || stamp === undefined || stamp === seen) continue;
      seen = stamp;
      await changed();
    }
  } finally {
    watcher?.close();
  }
}

/** Any event will do: the name that comes with it may be that of a link's target, or of an editor's draft. */
function watchFolder(folder: string, nudge: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, nudge);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Equal stamps mean the same file with the same content; undefined where there is none. */
function stampOf(file: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return undefined;
  }
}
