/** The searcher thread: searches do not wait for indexing. */
import { parentPort, workerData } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { indexFolder } from "../../search/index-folder.ts";
import { takeLease } from "../../search/lease.ts";
import { createSearcher, DamagedIndexError } from "../../search/searcher.ts";
import type { IndexStatus } from "../../search/status.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { FromSearcher, IndexLocation, ToSearcher } from "./messages.ts";
import { openEmbeddings, threadRuntime, toThreadError } from "./thread.ts";

/** Time limit for the embedding of a query. */
const embeddingMs = 2000;

const { folder, embeddings } = workerData as IndexLocation;
const runtime = threadRuntime(post);
const searcher = createSearcher({
  folder,
  openStore,
  runtime,
  embeddings: openEmbeddings(embeddings, runtime, { timeoutMs: embeddingMs, retries: 0 }),
});
const pending = new Map<number, AbortController>();

parentPort!.on("message", (message: ToSearcher) => {
  if ("question" in message) void answer(message);
  else if ("cancel" in message) pending.get(message.cancel)?.abort();
  else {
    searcher.close();
    parentPort!.close();
  }
});

async function answer({ id, question, withStatus }: Extract<ToSearcher, { readonly id: number }>): Promise<void> {
  const stop = new AbortController();
  pending.set(id, stop);
  try {
    // Skips a search that is cancelled immediately, as while typing.
    await new Promise((resolve) => setImmediate(resolve));
    stop.signal.throwIfAborted();
    // Read first, so that the results are at least as new.
    const status = withStatus ? statusOfKeeper() : undefined;
    post({ id, ...(await searcher.search(question, stop.signal)), status });
  } catch (cause) {
    if (!(cause instanceof ResourceError) && !stop.signal.aborted) runtime.log("error", "a search failed", { cause });
    post({ id, failure: toThreadError(cause), isDamaged: cause instanceof DamagedIndexError });
  } finally {
    pending.delete(id);
  }
}

/** Status from the process that maintains the index. Undefined if there is none: its last status may be outdated. */
function statusOfKeeper(): IndexStatus | undefined {
  const { lock, readStatus } = indexFolder(folder);
  try {
    const lease = takeLease(lock);
    lease?.release();
    return lease ? undefined : readStatus();
  } catch {
    return undefined;
  }
}

function post(message: FromSearcher): void {
  parentPort!.postMessage(message, []);
}
