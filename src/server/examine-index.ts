/** Whether the search index can be kept: its folder written, nothing in the way, its database whole. Changes nothing of it. */
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
/** A disk that has no room for this has none for an index. */
const probeBytes = 256 * 1024;

const advice: Readonly<Partial<Record<ProblemReason, string>>> = {
  "read-only": `make the folder writable, ${elsewhere}`,
  "no-permission": `give this user the right to write there, ${elsewhere}`,
  "disk-full": `free some space on that disk, ${elsewhere}`,
  blocked: `move it away, ${elsewhere}`,
  "too-many-files": "raise the number of files that a process may open (ulimit -n)",
};

export function examineIndex(folder: string): CheckResult {
  const files = indexFolder(folder);
  const broken = (cause: unknown): CheckResult => {
    const { reason, message } = toIndexProblem(cause);
    const todo = advice[reason];
    return { about, state: "broken", says: `${message}: ${folder}`, ...(todo !== undefined && { advice: todo }) };
  };
  try {
    const obstacle = files.obstacles()[0];
    if (obstacle !== undefined)
      return {
        about,
        state: "hint",
        says: `something else is in the place of the search index: ${obstacle}`,
        advice: "it is moved aside when the index is opened; move it away if it is needed",
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
    return { about, state: "ok", says: `there is none yet; it can be kept in ${folder}` };
  if (isWhole(files.database)) return { about, state: "ok", says: `it can be kept in ${folder}` };
  return {
    about,
    state: "hint",
    says: `it is damaged, or another version made it: ${folder}`,
    advice: "it is built again by itself; pressmark index does it now",
  };
}

/** What another process says of the index that it keeps. */
function keptBy(status: IndexStatus | undefined, folder: string): CheckResult {
  const says = `another process keeps it in ${folder}`;
  const problem =
    status?.problem?.message ?? status?.mounts.map(({ lastError }) => lastError).find((error) => error !== undefined);
  if (problem === undefined) return { about, state: "ok", says };
  return { about, state: "hint", says: `${says}, and says: ${problem}` };
}

function probe(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(probeBytes), { mode: 0o600 });
  } finally {
    rmSync(file, { force: true });
  }
}
