/** Finds the SQLite databases of a project. */
import { closeSync, lstatSync, openSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import type { Detection, ProjectFolder } from "../../source.ts";

const maxFolders = 200;
const maxNames = 5000;
const maxDepth = 3;
const maxDatabases = 5;

/** The nearest first. Looks at a limited number of folders, and not into hidden ones. */
export function detectDatabases(project: ProjectFolder): Detection[] {
  const found: string[] = [];
  const folders = [""];
  let names = 0;
  for (let at = 0; at < folders.length && at < maxFolders && names < maxNames; at += 1) {
    for (const { name, isDirectory } of project.entries(folders[at])) {
      names += 1;
      const path = folders[at] === "" ? name : `${folders[at]}/${name}`;
      if (isDirectory) {
        const isOwn = !/^\.|^(?:node_modules|vendor|dist|build|target)$/.test(name);
        if (isOwn && path.split("/").length < maxDepth) folders.push(path);
      } else if (/\.(?:sqlite3?|db3?)$/i.test(name) && isSqlite(join(project.path, path))) found.push(path);
    }
  }
  // Two databases of one name would have the same URIs.
  return found
    .filter((path, at) => found.findIndex((each) => basename(each) === basename(path)) === at)
    .slice(0, maxDatabases)
    .map((path) => ({
      what: "SQLite database",
      where: path,
      name: path.replace(/\.\w+$/, ""),
      values: { path },
      needs: `the file ${path}`,
    }));
}

/** By the first bytes: Windows and many programs have other files of these names. A pipe is not opened, because that would wait for its writer. */
function isSqlite(file: string): boolean {
  try {
    if (!lstatSync(file).isFile()) return false;
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
