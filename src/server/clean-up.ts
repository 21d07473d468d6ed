/** Removes what processes that were killed left behind while they wrote a file: a draft may hold a key, or a person's settings. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeLeftovers } from "../lib/leftovers.ts";

/** Where the state has files, and in the folders of projects, where a config stands. What is being written stays. */
export function cleanUp(stateFolder: string, projects: readonly string[]): void {
  const sets = join(stateFolder, "sets");
  for (const folder of [
    stateFolder,
    ...["trusted", "drive", "backups"].map((name) => join(stateFolder, name)),
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
