/** Folders that exist as long as an app of this process needs them. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasEnded, machineName } from "../lib/leftovers.ts";
import { fileClockMs } from "../lib/file-clock-ms.ts";

interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const prefix = "pressmark-app-";
const named = /^pressmark-app-([a-z0-9]*)-(\d{1,10})-[0-9a-zA-Z]+$/;
const folders = new Set<string>();

/**
 * Also removed when the process exits, but not when a signal ends it: those folders are removed by the next process of this user that
 * creates one.
 */
export function createTemporaryFolder(): TemporaryFolder {
  removeAbandoned(tmpdir());
  const path = mkdtempSync(join(tmpdir(), `${prefix}${machineName()}-${process.pid}-`));
  if (folders.size === 0) process.on("exit", removeAll);
  folders.add(path);
  return { path, remove: () => remove(path) };
}

function remove(path: string): void {
  if (folders.delete(path) && folders.size === 0) process.off("exit", removeAll);
  rmSync(path, { recursive: true, force: true });
}

function removeAll(): void {
  for (const path of folders) remove(path);
}

function removeAbandoned(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, machine, digits] = named.exec(name) ?? [];
    if (machine === undefined) continue;
    const path = join(folder, name);
    try {
      const stats = lstatSync(path);
      // In a folder that others can write to, names prove nothing.
      const isOurs = stats.isDirectory() && (!process.getuid || stats.uid === process.getuid());
      if (isOurs && hasEnded(machine, Number(digits), fileClockMs() - stats.mtimeMs))
        rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process was faster, or it is not ours to remove.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
