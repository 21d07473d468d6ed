/** `pressmark://index/status`: how far the index of this house has come. */
import type { IndexStatus, MountStatus } from "../search/status.ts";
import type { HouseIndex } from "./house-index.ts";
import type { StatusPage } from "./status-mount.ts";

export function indexPage(index: HouseIndex): StatusPage {
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

export interface ToldIndexStatus extends Omit<IndexStatus, "mounts"> {
  readonly mounts: readonly Omit<MountStatus, "key">[];
  readonly state: "starting" | "indexing" | "complete";
  /** Whether this process keeps the index, or another one does. */
  readonly keptHere: boolean;
}

export function indexStatusOf({ kept }: HouseIndex): ToldIndexStatus {
  const { role = "starting", status } = kept ?? {};
  const mounts = status?.mounts ?? [];
  return {
    state: role === "starting" ? "starting" : mounts.every(({ ready }) => ready === 1) ? "complete" : "indexing",
    keptHere: role === "writer",
    bytes: status?.bytes ?? 0,
    mounts,
    ...(status?.embeddings && { embeddings: status.embeddings }),
  };
}
