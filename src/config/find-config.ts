/** Finds the config, at most one per folder, and the project, searched upwards from the current folder. */
import { lstatSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { invalid, quote } from "../errors.ts";
import { realPath } from "../lib/real-path.ts";

export const configNames = [
  "pressmark.config.yaml",
  "pressmark.config.yml",
  "pressmark.config.json",
  "pressmark.config.ts",
] as const;

/** The config in this folder. Throws "invalid" if there are two. */
export function configIn(folder: string): string | undefined {
  const found = configNames.map((name) => join(folder, name)).filter(isFile);
  const [config, other] = found;
  if (config && other)
    throw invalid(
      `${quote(folder)} holds both ${basename(config)} and ${basename(other)}; keep one, or name one with --config`,
    );
  return config;
}

/** The nearest config in this folder or above, up to the home folder or the root. */
export function findConfig(from: string, home: string): string | undefined {
  const realHome = realPath(home);
  for (let folder = from; ; folder = dirname(folder)) {
    const config = configIn(folder);
    if (config || realPath(folder) === realHome || folder === dirname(folder)) return config;
  }
}

/**
 * The folder of the nearest config, else the root of the git repository, else the folder itself. A repository of the whole home folder is
 * not a project, nor is one of another user, who may have created it above this folder (for example in /tmp).
 */
export function findProject(from: string, home: string, uid = process.getuid?.()): string {
  const config = findConfig(from, home);
  if (config !== undefined) return dirname(config);
  const realHome = realPath(home);
  for (let folder = from; realPath(folder) !== realHome && folder !== dirname(folder); folder = dirname(folder))
    if (isOwnedBy(join(folder, ".git"), uid)) return folder;
  return from;
}

/** Whether it exists and, on systems with user ids, belongs to this user. */
function isOwnedBy(path: string, uid: number | undefined): boolean {
  try {
    // Of the link itself, which anyone can point to a file of this user.
    const found = lstatSync(path);
    return uid === undefined || found.uid === uid;
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    // A folder without read permission counts as empty.
    return false;
  }
}
