/** The files of an installed package, which a grant binds. */
import { type Dirent, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { contentOf, nameOf, UnboundProgram } from "./program-files.ts";
import { type Facts, isBelow, sha256 } from "./trust.ts";

const maxFiles = 5000;
const maxBytes = 64 * 1024 * 1024;

/**
 * The digest of each file of the folder, whether or not something imports it: there are more ways to name a file in an import than can be
 * followed. Leaves out its dependencies (`node_modules`) and the history of a linked package (`.git`). `folder` is without links. Throws
 * a UnboundProgram if there is too much of it, or if a link leads to a folder elsewhere, whose content the digests would not cover.
 */
export function packageFiles(folder: string): Facts {
  const digests: Record<string, string> = {};
  const waiting = [folder];
  let files = 0;
  let total = 0;

  function add(path: string, entry: Dirent): void {
    files += 1;
    const stats = statsOf(path);
    total += stats?.isFile() ? stats.size : 0;
    if (files > maxFiles || total > maxBytes)
      throw new UnboundProgram(`has a package of more than ${maxFiles} files or ${maxBytes / 2 ** 20} MiB`);
    const led = entry.isSymbolicLink() ? `link to ${readlinkSync(path)} ` : "";
    if (stats?.isFile()) digests[nameOf(folder, path)] = led + sha256(contentOf(path));
    else if (stats?.isDirectory() && !isBelow(folder, realPath(path)))
      throw new UnboundProgram(`has a package whose link ${nameOf(folder, path)} leads to a folder outside of it`);
    else if (led !== "") digests[nameOf(folder, path)] = led;
  }

  /** Files in a folder that cannot be listed may still be imported. */
  function entriesOf(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true });
    } catch {
      throw new UnboundProgram(`has a package with the folder ${nameOf(folder, path)}, which cannot be read`);
    }
  }

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && entry.name !== ".git") waiting.push(path);
      } else add(path, entry);
    }
  return digests;
}
