/** Writes a file atomically: readers, and a restart after a crash, see either the old content or all of the new. */
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { processMark, removeLeftovers } from "./leftovers.ts";

interface AtomicWriteOptions {
  /** Limited by the umask. Default: for the owner only. */
  readonly mode?: number;
  /** Takes the mode of the file that it replaces, if there is one. */
  readonly keepsMode?: boolean;
  /** Throws EEXIST if the file exists, even if another process has just written it. */
  readonly isNew?: boolean;
  /** False for data that can be created again: it may be lost after a power failure. */
  readonly isLasting?: boolean;
}

/** Error codes of file systems without hard links. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Folders whose leftovers this process has already removed. */
const swept = new Set<string>();

/** The folder must exist. The temporary file is hidden, and is removed later if this process is killed. */
export function writeFileAtomically(
  file: string,
  content: string | Uint8Array,
  { mode = 0o600, keepsMode = false, isNew = false, isLasting = true }: AtomicWriteOptions = {},
): void {
  const folder = dirname(file);
  if (!swept.has(folder)) {
    swept.add(folder);
    removeLeftovers(folder);
  }
  const draft = join(folder, `.${basename(file)}${processMark()}${crypto.randomUUID().slice(0, 8)}`);
  try {
    const fd = openSync(draft, "wx", mode);
    try {
      const replaced = keepsMode ? statSync(file, { throwIfNoEntry: false }) : undefined;
      if (replaced) fchmodSync(fd, replaced.mode & 0o777);
      writeFileSync(fd, content);
      if (isLasting) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (isNew) giveName(draft, file, mode);
    else renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
  if (isLasting) syncFolder(folder);
}

/** A link is created atomically, and never replaces a file of another process. */
function giveName(draft: string, file: string, mode: number): void {
  try {
    linkSync(draft, file);
  } catch (cause) {
    if (!noLinks.has(String((cause as NodeJS.ErrnoException).code))) throw cause;
    closeSync(openSync(file, "wx", mode));
    renameSync(draft, file);
  }
}

/** A new name is durable only after its folder is synced. Some systems do not support this. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file is written anyway.
  }
}
