/** Locates a repository on the disk, without running git. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

export interface GitRepository {
  /** The given folder without links: a checkout, or a bare repository. */
  readonly root: string;
  /** The git folder of this checkout: HEAD and index. */
  readonly gitDir: string;
  /** The git folder shared by all checkouts: refs, objects and config. The same folder unless this is a linked worktree. */
  readonly commonDir: string;
  readonly isBare: boolean;
}

const maxPointerBytes = 8192;

/** Undefined if the folder is neither a checkout nor a bare repository. Parent folders are not searched. */
export function findRepository(folder: string): GitRepository | undefined {
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

export function realOf(path: string): string | undefined {
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

/** The text of a regular file up to this length; undefined for anything else. */
export function smallText(path: string, maxBytes: number): string | undefined {
  return readSmallFile(path, maxBytes)?.toString("utf8");
}

/** The bytes of a regular file up to this length; undefined for anything else. Does not block on a pipe. */
export function readSmallFile(path: string, maxBytes: number): Buffer | undefined {
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
    return length > maxBytes ? undefined : bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
