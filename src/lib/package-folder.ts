/** Finds the folder of this package. */
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/**
 * The nearest folder above this module that contains the launcher. In the single executable it is the executable itself: its files have
 * paths below it, which do not exist on the disk (`package-files.ts` reads them).
 */
export function packageFolder(): string {
  if (isExecutable()) return process.execPath;
  for (let folder = import.meta.dirname; ; folder = dirname(folder))
    if (existsSync(join(folder, "bin", "pressmark.js")) || folder === dirname(folder)) return folder;
}

/** Whether this is the single executable, which contains Node and all files of the package. */
export function isExecutable(): boolean {
  return import.meta.dirname.startsWith(process.execPath + sep);
}

/** The program that starts Pressmark: the launcher, which needs Node, or the single executable. */
export function programFile(): string {
  return isExecutable() ? process.execPath : join(packageFolder(), "bin", "pressmark.js");
}
