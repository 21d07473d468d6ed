/** Queues searches of the index fairly, so that one client's searches do not delay another's. */
import { cancelled, ResourceError } from "../errors.ts";
import { createFairQueue } from "../lib/fair-queue.ts";
import type { Call } from "../resources.ts";
import type { IndexQuery, SearchIndex } from "../search/search-index.ts";
import type { Access } from "./access.ts";

export interface FairIndex extends Pick<SearchIndex, "problem" | "ready" | "hasJustRead" | "awaitFirstPass"> {
  /** Throws "busy" with a retry time if too many searches wait. */
  search(query: Omit<IndexQuery, "viewer">, call: Call): ReturnType<SearchIndex["search"]>;
}

/** The index runs in its own thread: more concurrent searches would only wait there. */
const maxAtOnce = 8;
const maxWaiting = 1024;

export function createFairIndex(index: SearchIndex, { viewerOf }: Pick<Access, "viewerOf">): FairIndex {
  const queue = createFairQueue({ maxAtOnce, maxWaiting, busy, cancelled });
  const isIndexed = (mount: string): boolean => index.ready(mount) !== undefined;
  return {
    problem: (mount) => index.problem(mount),
    ready: (mount) => index.ready(mount),
    hasJustRead: (mount) => index.hasJustRead?.(mount) ?? false,
    awaitFirstPass: async (mounts, signal) => index.awaitFirstPass?.(mounts, signal),
    search: (query, call) =>
      queue.run(call.client ?? call.caller, call, async () =>
        index.search({ ...query, viewer: viewerOf(call, isIndexed) }, call.signal),
      ),
  };
}

function busy(retryAfterMs: number): ResourceError {
  return new ResourceError("busy", `too many searches are waiting; retry in ${retryAfterMs} ms`, {
    passing: true,
    details: { retryAfterMs },
  });
}
