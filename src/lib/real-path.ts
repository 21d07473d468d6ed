/** Real paths of files that may not exist yet. */
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Resolves links, even if the end of the path does not exist yet. */
export function realPath(path: string): string {
  return followed(resolve(path), 0);
}

function followed(path: string, links: number): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > maxLinks) return path;
    const here = join(followed(parent, links), basename(path));
    const target = linkAt(here);
    return target === undefined ? here : followed(resolve(dirname(here), target), links + 1);
  }
}

/** The limit of Linux. */
const maxLinks = 40;

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
