/** The resource `pressmark://index/status`: progress of the search index. */
import type { ServerIndex, ShownStatus } from "./server-index.ts";
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

interface ToldIndexStatus extends ShownStatus {
  /** "unavailable": there is no index, for the reason in `problem`; it is retried. */
  readonly state: "starting" | "indexing" | "complete" | "unavailable";
  /** Whether this process maintains the index, or another one. */
  readonly keptHere: boolean;
}

export function indexStatusOf({ role, status }: ServerIndex): ToldIndexStatus {
  const { bytes, mounts, problem, embeddings } = status ?? { bytes: 0, mounts: [] };
  return { state: stateOf(role, problem, mounts), keptHere: role === "writer", bytes, problem, mounts, embeddings };
}

function stateOf(
  role: Role,
  problem: IndexProblem | undefined,
  mounts: ShownStatus["mounts"],
): ToldIndexStatus["state"] {
  // An open index may also have a problem: it may not be writable.
  const isAway = mounts.length > 0 && mounts.every(({ state }) => state === "unavailable");
  if (problem && (role === "starting" || isAway)) return "unavailable";
  if (role === "starting") return "starting";
  return mounts.every(({ ready }) => ready === 1) ? "complete" : "indexing";
}
