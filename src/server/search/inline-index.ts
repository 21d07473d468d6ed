/** The index of a single command, on its own thread: starting two threads takes longer than what is usually left to index. */
import { indexFolder } from "../../search/index-folder.ts";
import { createIndexer } from "../../search/indexer.ts";
import { takeLease } from "../../search/lease.ts";
import { createSearcher } from "../../search/searcher.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { Runtime, Source } from "../../source.ts";
import type { IndexerClient, KeyedMount } from "./indexer-client.ts";
import type { IndexerData, IndexLocation } from "./messages.ts";
import type { SearcherClient } from "./searcher-client.ts";
import { openEmbeddings, queryLimits } from "./thread.ts";
import { markUsed } from "./unused-indexes.ts";

type Hear = Parameters<typeof createIndexer>[0]["tell"];

/** How soon another command that holds the lease may have finished. */
const leaseMs = 25;

/** An interrupt is handled between batches. */
const batchChars = 128 * 1024;

/** Indexes the mounts once. */
export function createInlineIndexer(
  { project, embeddings, folder, maxFileBytes, maxBytes, maxFiles }: Omit<IndexerData, "stop">,
  mounts: readonly KeyedMount[],
  leftOut: readonly string[],
  { runtime, hear }: { readonly runtime: Runtime; readonly hear: Hear },
): IndexerClient {
  let served = mounts;
  const indexer = createIndexer({
    folder,
    maxFileBytes,
    maxBytes,
    maxFiles,
    once: true,
    leaseMs,
    openStore,
    runtime,
    embeddings: openEmbeddings(embeddings, runtime),
    open: async (name) => borrowed(served.find((mount) => mount.name === name)!.source),
    follow: async () => undefined,
    tell: hear,
    batchChars,
    prepare: () => markUsed(folder, project),
  });
  const serve: IndexerClient["serve"] = (next, stored) => {
    served = next;
    indexer.serve(
      next.map(({ name, key }) => ({ name, key, isWatched: false })),
      stored,
    );
  };
  serve(mounts, leftOut);
  return {
    serve,
    check: (found) => indexer.check(found === "damaged" ? found : undefined),
    waiting: () => 0,
    close: () => indexer.close(),
  };
}

/** For the index as it is: writes nothing. */
export function createIdleIndexer(
  { folder }: IndexLocation,
  _mounts: unknown,
  _leftOut: unknown,
  { hear }: { readonly hear: Hear },
): IndexerClient {
  const files = indexFolder(folder);
  const stored = files.storedStatus();
  if (stored && isKept(files.lock)) hear("reader", files.readStatus());
  else if (stored) {
    const { file: _file, mounts, ...status } = stored.status;
    // Later changes are unknown, so no mount counts as complete.
    const aged = mounts.map((mount) => ({ ...mount, ready: Math.min(mount.ready, 0.99) }));
    hear("writer", { ...status, mounts: aged, ageMs: Math.max(0, stored.ageMs) });
  }
  return { serve: () => undefined, check: () => undefined, waiting: () => 0, close: async () => undefined };
}

/** Whether another process keeps the index up to date. */
function isKept(lock: string): boolean {
  const lease = takeLease(lock);
  lease?.release();
  return lease === undefined;
}

export function createInlineSearcher({ folder, embeddings }: IndexLocation, runtime: Runtime): SearcherClient {
  const searcher = createSearcher({
    folder,
    openStore,
    runtime,
    embeddings: openEmbeddings(embeddings, runtime, queryLimits),
  });
  return { search: searcher.search, close: async () => searcher.close() };
}

/** The server closes its sources itself. */
function borrowed({ close: _close, ...source }: Source): Source {
  return source;
}
