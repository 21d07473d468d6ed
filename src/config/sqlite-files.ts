/** Finds the SQLite databases of a project. */
import { closeSync, type Dirent, openSync, readdirSync, readSync } from "node:fs";
import { basename, join } from "node:path";

const maxFolders = 200;
const maxNames = 5000;
const maxDepth = 3;
const maxDatabases = 5;

/** SQLite files of the project, nearest first. Looks at a limited number of folders, and not into hidden ones. */
export function sqliteFilesIn(project: string): string[] {
  const found: string[] = [];
  const folders = [""];
  let names = 0;
  for (let at = 0; at < folders.length && at < maxFolders && names < maxNames; at += 1) {
    for (const entry of namesIn(join(project, folders[at]!))) {
      names += 1;
      const path = folders[at] === "" ? entry.name : `${folders[at]}/${entry.name}`;
      if (entry.isDirectory() && !/^\.|^(?:node_modules|vendor|dist|build|target)$/.test(entry.name)) {
        if (path.split("/").length < maxDepth) folders.push(path);
      } else if (entry.isFile() && /\.(?:sqlite3?|db3?)$/i.test(entry.name) && isSqlite(join(project, path)))
        found.push(path);
    }
  }
  // Two databases of one name would have the same URIs.
  return found
    .filter((path, at) => found.findIndex((each) => basename(each) === basename(path)) === at)
    .slice(0, maxDatabases);
}

/** By the first bytes: Windows and many programs have other files of these names. */
function isSqlite(file: string): boolean {
  try {
    const descriptor = openSync(file, "r");
    try {
      const head = Buffer.alloc(16);
      readSync(descriptor, head, 0, 16, 0);
      return head.toString("latin1") === "SQLite format 3\0";
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

export function namesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
