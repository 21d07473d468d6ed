/** Writes a file whole or not at all: who reads it, or looks after a crash, finds what was there before or all of what is new. */
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

export interface AtomicWriteOptions {
  /** As far as the umask allows it. For its owner alone by default. */
  readonly mode?: number;
  /** Takes the mode of the file that it replaces, where there is one. */
  readonly keepsMode?: boolean;
  /** Throws EEXIST where there is a file already, also one that another process has just written. */
  readonly isNew?: boolean;
  /** False for what can be made again: then it may be gone after the machine has lost power. */
  readonly isLasting?: boolean;
}

/** What file systems without hard links answer. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Folders from which this process has removed what others left behind. */
const swept = new Set<string>();

/** The folder must be there. Its temporary file is hidden, and is removed later if this process is killed meanwhile. */
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

/** A link is made whole or not at all, and never over what another process has written. */
function giveName(draft: string, file: string, mode: number): void {
  try {
    linkSync(draft, file);
  } catch (cause) {
    if (!noLinks.has(String((cause as NodeJS.ErrnoException).code))) throw cause;
    closeSync(openSync(file, "wx", mode));
    renameSync(draft, file);
  }
}

/** A name that was given or moved lasts only when its folder does. Some systems know no such thing. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // It is written all the same.
  }
}
