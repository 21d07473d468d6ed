/** The secret that signs cursors, stored so that cursors survive a restart, and shared so that they are valid on every instance. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { quote, ResourceError } from "../errors.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";
import type { Runtime } from "../source.ts";
import type { Store } from "../state/store.ts";

const keyBytes = 32;

/** Reads the disk on the first call; later calls return the same key. If the folder cannot be used, logs once and uses a temporary key. */
export function loadCursorKey(folder: string, runtime: Pick<Runtime, "log">): () => Uint8Array {
  let key: Uint8Array | undefined;
  return () => {
    if (key) return key;
    try {
      key = load(folder);
    } catch (cause) {
      key = freshCursorKey();
      runtime.log("warn", "the key for cursors cannot be stored, so cursors become invalid when this process ends", {
        folder,
        cause,
      });
    }
    return key;
  };
}

/** Records of this kind are secrets of the server. */
export const keyKind = "keys";
export const cursorKeyName = "cursor";

/** The key of all instances. The first instance creates it. */
export async function loadSharedCursorKey(store: Pick<Store, "get" | "put">): Promise<Uint8Array> {
  const fresh = { key: Buffer.from(freshCursorKey()).toString("base64") };
  const stored =
    (await store.get(keyKind, cursorKeyName)) ??
    (await store.put(keyKind, cursorKeyName, fresh, { ifVersion: undefined })) ??
    (await store.get(keyKind, cursorKeyName));
  const key = Buffer.from(String(stored?.value["key"]), "base64");
  if (key.length === keyBytes) return key;
  const message = `the key for cursors in the shared state is damaged; remove the record ${quote(cursorKeyName)} of kind ${quote(keyKind)}, and start the server again`;
  throw new ResourceError("unavailable", message);
}

function load(folder: string): Uint8Array {
  const path = join(folder, "cursor-key");
  const found = read(path);
  if (found?.length === keyBytes) return found;

  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fresh = freshCursorKey();
  try {
    // Replaces an invalid file, which nobody can be using; otherwise the key of the process that was first wins.
    writeFileAtomically(path, fresh, { isNew: found === undefined });
    return fresh;
  } catch (cause) {
    const theirs = (cause as NodeJS.ErrnoException).code === "EEXIST" ? read(path) : undefined;
    if (theirs?.length === keyBytes) return theirs;
    throw cause;
  }
}

export function freshCursorKey(): Uint8Array {
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
