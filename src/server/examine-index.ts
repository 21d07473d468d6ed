/** Checks whether the search index can be stored: folder writable, nothing in its place, database intact. Changes nothing. */
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { indexFolder, makeFolder } from "../search/index-folder.ts";
import { type ProblemReason, toIndexProblem } from "../search/index-problem.ts";
import { takeLease } from "../search/lease.ts";
import { isWhole } from "../search/open-database.ts";
import type { IndexStatus } from "../search/status.ts";
import type { CheckResult } from "./examine.ts";

const about = "index";
const elsewhere = "or set XDG_CACHE_HOME to another folder";
/** Free space that an index needs at least. */
const probeBytes = 256 * 1024;

const advice: Readonly<Partial<Record<ProblemReason, string>>> = {
  "read-only": `make the folder writable, ${elsewhere}`,
  "no-permission": `give this user write permission there, ${elsewhere}`,
  "disk-full": `free space on that disk, ${elsewhere}`,
  blocked: `move it, ${elsewhere}`,
  "too-many-files": "raise the limit of open files (ulimit -n)",
};

export function examineIndex(folder: string): CheckResult {
  const files = indexFolder(folder);
  const broken = (cause: unknown): CheckResult => {
    const { reason, message } = toIndexProblem(cause);
    const todo = advice[reason];
    return { about, state: "broken", says: `${message}: ${folder}`, advice: todo };
  };
  try {
    const obstacle = files.obstacles()[0];
    if (obstacle !== undefined)
      return {
        about,
        state: "hint",
        says: `another file is in place of the search index: ${obstacle}`,
        advice: "it is renamed when the index is opened; move it if you need it",
      };
    makeFolder(folder);
    probe(join(folder, "probe"));
    const lease = takeLease(files.lock);
    lease?.release();
    if (!lease) return keptBy(files.readStatus(), folder);
  } catch (cause) {
    return broken(cause);
  }
  if (!statSync(files.database, { throwIfNoEntry: false }))
    return { about, state: "ok", says: `there is none yet; it can be stored in ${folder}` };
  if (isWhole(files.database)) return { about, state: "ok", says: `it can be stored in ${folder}` };
  return {
    about,
    state: "hint",
    says: `it is damaged, or from another version: ${folder}`,
    advice: "it is rebuilt automatically; pressmark index rebuilds it now",
  };
}

/** Status of an index that another process maintains. */
function keptBy(status: IndexStatus | undefined, folder: string): CheckResult {
  const says = `another process maintains it in ${folder}`;
  const problem =
    status?.problem?.message ?? status?.mounts.map(({ lastError }) => lastError).find((error) => error !== undefined);
  if (problem === undefined) return { about, state: "ok", says };
  return { about, state: "hint", says: `${says}, and reports: ${problem}` };
}

function probe(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(probeBytes), { mode: 0o600 });
  } finally {
    rmSync(file, { force: true });
  }
}
