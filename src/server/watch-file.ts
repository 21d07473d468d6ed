/** Watches a file for changes, however it is saved. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Runtime } from "../source.ts";

/** Editors save in several steps. */
const quietMs = 50;
/** Polling interval, for systems that report nothing (network folders, links). */
const lookMs = 5000;

interface WatchFileOptions {
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  /** Whether a deleted file counts as changed at once. Default: when it exists again, because editors replace files. */
  readonly deletions?: boolean;
  /** Stamp of the file before it was last read, so that a change since then counts. Default: the stamp at the call. */
  readonly since?: string | undefined;
}

/** Calls `changed`, one call at a time, when the file has changed. Resolves when the signal is aborted. */
export async function watchFile(
  file: string,
  changed: () => Promise<void>,
  { runtime, signal, deletions = false, ...options }: WatchFileOptions,
): Promise<void> {
  let seen = "since" in options ? options.since : stampOf(file);
  let nudged = seen !== stampOf(file);
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
      // A file that came and went between two looks was perhaps read meanwhile.
      const isSame = stamp === undefined ? !deletions : stamp === seen;
      if (signal.aborted || isSame) continue;
      seen = stamp;
      await changed();
    }
  } finally {
    watcher?.close();
  }
}

/** Reacts to any event: its name may be that of a link's target or an editor's temporary file. */
function watchFolder(folder: string, nudge: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, nudge);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Equal stamps mean the same file and content; undefined if there is no file. */
export function stampOf(file: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return undefined;
  }
}
