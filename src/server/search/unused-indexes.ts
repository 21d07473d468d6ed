/** Labels the indexes in the user's cache, and removes unused ones. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../errors.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { indexFolder, makeFolder } from "../../search/index-folder.ts";
import { takeLease } from "../../search/lease.ts";
import { type Project, indexesIn } from "./index-location.ts";

/** An index that nobody opened for this long is removed. */
const unusedMs = 30 * 86_400_000;

/** Writes what the index belongs to, and when it was used. */
export function markUsed(folder: string, project: Project): void {
  makeFolder(folder);
  writeFileAtomically(join(folder, "about.json"), `${JSON.stringify(project)}\n`, { isLasting: false });
}

/** Removes unused indexes. Those that cannot be removed stay. */
export function sweep(cacheFolder: string, nowMs: number): readonly string[] {
  const parent = indexesIn(cacheFolder);
  const swept: string[] = [];
  for (const name of namesIn(parent)) {
    const folder = join(parent, name);
    const used =
      statSync(join(folder, "about.json"), { throwIfNoEntry: false }) ?? statSync(folder, { throwIfNoEntry: false });
    if (!used || nowMs - used.mtimeMs < unusedMs) continue;
    try {
      removeIndex(folder);
      swept.push(folder);
    } catch {
      // In use after all, or not removable.
    }
  }
  return swept;
}

/** Removes an index. Throws "busy" while another process maintains it. */
export function removeIndex(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  const files = indexFolder(folder);
  files.prepare();
  const lease = takeLease(files.lock);
  if (!lease) throw new ResourceError("busy", "another process maintains this index; stop it first");
  try {
    files.remove();
  } finally {
    lease.release();
  }
}

/** Only names that this program creates: 32 hex digits. */
function namesIn(parent: string): string[] {
  try {
    return readdirSync(parent).filter((name) => /^[0-9a-f]{32}$/.test(name));
  } catch {
    return [];
  }
}
