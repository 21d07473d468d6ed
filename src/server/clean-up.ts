/** Removes temporary files of processes that were killed while writing: they may contain a key or settings. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeLeftovers } from "../lib/leftovers.ts";

/** Cleans the state folder and the folders of projects. Files that are currently being written stay. */
export function cleanUp(stateFolder: string, projects: readonly string[]): void {
  const sets = join(stateFolder, "sets");
  for (const folder of [
    stateFolder,
    ...["trusted", "drive", "mcp", "backups"].map((name) => join(stateFolder, name)),
    ...foldersIn(sets),
    ...projects,
  ])
    removeLeftovers(folder);
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
