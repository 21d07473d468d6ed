/** The secret that cursors are signed with, kept so that a cursor outlives the process that gave it. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { Runtime } from "../source.ts";

const keyBytes = 32;

/** Asks nothing of the disk until it is called; the same key ever after. A folder that cannot be used is said once, and the key lives as long as the process. */
export function loadCursorKey(folder: string, runtime: Pick<Runtime, "log">): () => Uint8Array {
  let key: Uint8Array | undefined;
  return () => {
    if (key) return key;
    try {
      key = load(folder);
    } catch (cause) {
      key = freshKey();
      runtime.log("warn", "the key for cursors cannot be kept, so cursors end with this process", { folder, cause });
    }
    return key;
  };
}

function load(folder: string): Uint8Array {
  const path = join(folder, "cursor-key");
  const found = read(path);
  if (found?.length === keyBytes) return found;

  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fresh = freshKey();
  try {
    // What is there is no key, and nobody can be using it; else the key of another process that was first counts.
    writeFileAtomically(path, fresh, { isNew: found === undefined });
    return fresh;
  } catch (cause) {
    const theirs = (cause as NodeJS.ErrnoException).code === "EEXIST" ? read(path) : undefined;
    if (theirs?.length === keyBytes) return theirs;
    throw cause;
  }
}

function freshKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(keyBytes));
}

function read(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}
