/** Where a repository stands on the disk, found without running anything; and what it reaches beyond a folder. */
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

export interface Repository {
  /** The folder that was named, without links: a checkout, or a bare repository. */
  readonly root: string;
  /** What belongs to this checkout alone: HEAD and index. */
  readonly gitDir: string;
  /** What all checkouts share: refs, objects and config. The same folder unless this is a linked worktree. */
  readonly commonDir: string;
  readonly isBare: boolean;
}

const maxPointerBytes = 8192;
const maxListBytes = 256 * 1024;
/** As deep as git follows them. */
const maxAlternates = 6;

/** Undefined where the folder is neither a checkout nor a bare repository. What is above it is not looked at. */
export function findRepository(folder: string): Repository | undefined {
  const root = realOf(folder);
  if (root === undefined) return undefined;
  const dotGit = join(root, ".git");
  const kind = statSync(dotGit, { throwIfNoEntry: false });
  let own = dotGit;
  if (kind?.isFile()) {
    const line = smallText(dotGit, maxPointerBytes) ?? "";
    if (!line.startsWith("gitdir: ")) return undefined;
    own = resolve(root, line.slice("gitdir: ".length).trimEnd());
  }
  const isBare = kind === undefined;
  const gitDir = realOf(isBare ? root : own);
  if (gitDir === undefined || !isThere(join(gitDir, "HEAD"))) return undefined;
  const shared = smallText(join(gitDir, "commondir"), maxPointerBytes);
  const commonDir = shared === undefined ? gitDir : realOf(resolve(gitDir, shared.trimEnd()));
  if (commonDir === undefined || !isFolder(join(commonDir, "objects")) || !isFolder(join(commonDir, "refs")))
    return undefined;
  return { root, gitDir, commonDir, isBare };
}

/**
 * The places outside the folder that reading this repository reads: a git folder elsewhere (worktrees, submodules), borrowed
 * objects, links. Each is without links itself.
 */
export function placesBeyond({ gitDir, commonDir }: Repository, folder: string): string[] {
  const inside = realOf(folder) ?? folder;
  const found = new Set<string>();
  const check = (path: string): void => {
    const real = realOf(path);
    if (real !== undefined && !isInside(inside, real)) found.add(real);
  };
  for (const path of [gitDir, commonDir, join(commonDir, "refs"), join(commonDir, "packed-refs")]) check(path);
  checkObjects(join(commonDir, "objects"), check, 0);
  return [...found];
}

function checkObjects(objects: string, check: (path: string) => void, depth: number): void {
  check(objects);
  for (const folder of [objects, join(objects, "pack"), join(objects, "info")])
    for (const entry of entriesOf(folder)) if (entry.isSymbolicLink()) check(join(folder, entry.name));
  const list = depth < maxAlternates ? smallText(join(objects, "info", "alternates"), maxListBytes) : undefined;
  for (const line of list?.split("\n") ?? []) {
    // A name in quotes may be spelled with escapes: the whole line stands for a place that is not known.
    if (line === "" || line.startsWith("#")) continue;
    checkObjects(resolve(realOf(objects) ?? objects, line), check, depth + 1);
  }
}

/** Whether the second is the first or below it. */
function isInside(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The text of a regular file that is no longer than this; undefined for anything else. A pipe keeps no one waiting. */
export function smallText(path: string, maxBytes: number): string | undefined {
  let fd: number;
  try {
    if (!statSync(path).isFile()) return undefined;
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(maxBytes + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length <= maxBytes; length += count)
      count = readSync(fd, bytes, length, bytes.length - length, length);
    return length > maxBytes ? undefined : bytes.toString("utf8", 0, length);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
