/** Watches the named files: a system event triggers a check that determines what changed. */
import type { FSWatcher } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { watchFolder } from "../../backends/watch-folder.ts";
import { unavailable } from "../../errors.ts";
import { createWaker } from "../../lib/waker.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import type { ChangeDetector } from "../../backends/shared-watch.ts";
import type { ConfigFiles } from "./files.ts";

interface ConfigWatchOptions {
  readonly root: string;
  readonly files: ConfigFiles;
  readonly pollMs: number;
  readonly wait: Runtime["wait"];
}

type Seen = ReadonlyMap<string, string | undefined>;

/** Editors write in several steps. */
const quietMs = 30;

export function createConfigWatch({ root, files, pollMs, wait }: ConfigWatchOptions) {
  /** Why no file can be found, if that is not known to be true everywhere. */
  async function rootFailure(): Promise<unknown> {
    if (files.all.length === 0) return undefined;
    return stat(root).then(
      (stats) => (stats.isDirectory() ? undefined : missing()),
      (cause: unknown) => missing(cause),
    );
  }

  async function look(): Promise<Seen> {
    const seen = await Promise.all(
      files.all.map(async (file) => [file.path, await files.look(file).catch(() => undefined)] as const),
    );
    return new Map(seen);
  }

  return async function runWatch({ armed, tell, setFailure, signal }: ChangeDetector): Promise<void> {
    const waker = createWaker(wait);
    // Before the first check, so that no change is missed.
    const watchers = watchFolders(root, files, waker.wake);
    try {
      const failure = await rootFailure();
      if (failure !== undefined) throw failure;
      let last = await look();
      armed();
      while (!signal.aborted) {
        await waker.wait(pollMs, signal, quietMs);
        if (signal.aborted) return;
        const now = await look();
        const changes = changesBetween(last, now);
        if (changes.length > 0) tell(changes);
        last = now;
        setFailure(await rootFailure());
      }
    } finally {
      for (const watcher of watchers) watcher.close();
    }
  };
}

function missing(cause?: unknown): Error {
  return unavailable("the folder of this mount does not exist at the moment", cause);
}

/** Watches the folders, because a file may be replaced by another. Folders that cannot be watched are polled. */
function watchFolders(root: string, files: ConfigFiles, written: () => void): readonly FSWatcher[] {
  const names = new Map<string, Set<string>>();
  for (const { path } of files.all) {
    const full = resolve(root, path);
    names.set(dirname(full), (names.get(dirname(full)) ?? new Set()).add(basename(full)));
  }
  return [...names].flatMap(([folder, own]) => {
    const watcher = watchFolder(folder, (changed) => {
      // Links of mounted volumes are switched through a name that begins with two dots.
      if (changed === null || own.has(changed) || changed.startsWith("..")) written();
    });
    return watcher ?? [];
  });
}

function changesBetween(before: Seen, after: Seen): SourceChange[] {
  const changes: SourceChange[] = [];
  for (const [path, now] of after) {
    const old = before.get(path);
    if (old === now) continue;
    const kind = old === undefined ? "appeared" : now === undefined ? "gone" : "changed";
    changes.push({ kind, path: `file/${path}` });
  }
  if (changes.length > 0) changes.push({ kind: "changed", path: "effective" });
  return changes;
}
