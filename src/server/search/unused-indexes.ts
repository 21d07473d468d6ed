/** The indexes in a person's cache: said what they are of, and taken away when nobody uses them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../errors.ts";
import { writeFileAtomically } from "../../lib/write-file-atomically.ts";
import { indexFolder, makeFolder } from "../../search/index-folder.ts";
import { takeLease } from "../../search/lease.ts";
import { type Project, indexesIn } from "./index-location.ts";

/** So long an index is kept that nobody has opened. */
const unusedMs = 30 * 86_400_000;

/** Says on disk what the index is of, and that it is used. */
export function markUsed(folder: string, project: Project): void {
  makeFolder(folder);
  writeFileAtomically(join(folder, "about.json"), `${JSON.stringify(project)}\n`, { isLasting: false });
}

/** Takes away every index that has not been used for long. What cannot be taken away stays. */
export function sweep(cacheFolder: string, nowMs: number): readonly string[] {
  const shelf = indexesIn(cacheFolder);
  const swept: string[] = [];
  for (const name of namesIn(shelf)) {
    const folder = join(shelf, name);
    const used =
      statSync(join(folder, "about.json"), { throwIfNoEntry: false }) ?? statSync(folder, { throwIfNoEntry: false });
    if (!used || nowMs - used.mtimeMs < unusedMs) continue;
    try {
      removeIndex(folder);
      swept.push(folder);
    } catch {
      // It is in use after all, or not ours to remove.
    }
  }
  return swept;
}

/** Removes what this program made. Throws "busy" while another process keeps the index. */
export function removeIndex(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  const files = indexFolder(folder);
  files.prepare();
  const lease = takeLease(files.lock);
  if (!lease) throw new ResourceError("busy", "another process keeps this index just now; stop it first");
  try {
    files.remove();
  } finally {
    lease.release();
  }
}

/** Only what this made: 32 digits. */
function namesIn(shelf: string): string[] {
  try {
    return readdirSync(shelf).filter((name) => /^[0-9a-f]{32}$/.test(name));
  } catch {
    return [];
  }
}
