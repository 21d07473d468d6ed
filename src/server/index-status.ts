/** `pressmark://index/status`: how far the index of this house has come. */
import type { ServerIndex } from "./server-index.ts";
import type { ShownStatus } from "./search/index-threads.ts";
import type { IndexProblem } from "../search/index-problem.ts";
import type { Role } from "../search/status.ts";
import type { StatusPage } from "./status-mount.ts";

export function indexPage(index: ServerIndex): StatusPage {
  return {
    entry: {
      path: "index/status",
      name: "status",
      title: "Status of the search index",
      description: "How much of each mount is indexed, how large the index is, and what went wrong last",
      mimeType: "application/json",
    },
    say: () => indexStatusOf(index),
    follow: index.follow,
  };
}

export interface ToldIndexStatus extends ShownStatus {
  /** "unavailable": there is no index, for the reason that `problem` names; it is tried again. */
  readonly state: "starting" | "indexing" | "complete" | "unavailable";
  /** Whether this process keeps the index, or another one does. */
  readonly keptHere: boolean;
}

export function indexStatusOf({ kept, failure }: ServerIndex): ToldIndexStatus {
  const { role = "starting", status } = kept ?? {};
  const mounts = status?.mounts ?? [];
  const problem = failure ?? status?.problem;
  return {
    state: stateOf(role, problem, mounts),
    keptHere: role === "writer",
    bytes: status?.bytes ?? 0,
    ...(problem && { problem }),
    mounts,
    ...(status?.embeddings && { embeddings: status.embeddings }),
  };
}

function stateOf(
  role: Role,
  problem: IndexProblem | undefined,
  mounts: ShownStatus["mounts"],
): ToldIndexStatus["state"] {
  // While an index is open, a problem may also mean that it cannot be written.
  const isAway = mounts.length > 0 && mounts.every(({ state }) => state === "unavailable");
  if (problem && (role === "starting" || isAway)) return "unavailable";
  if (role === "starting") return "starting";
  return mounts.every(({ ready }) => ready === 1) ? "complete" : "indexing";
}
