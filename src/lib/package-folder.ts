/** Finds the folder of this package. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The nearest folder above this module that contains the launcher. */
export function packageFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder))
    if (existsSync(join(folder, "bin", "pressmark.js")) || folder === dirname(folder)) return folder;
}
