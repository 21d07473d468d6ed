/** The searcher thread: searches do not wait for indexing. */
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { releaseGrowth } from "../../lib/v8-memory.ts";
import { createSearcher, type SearchFindings, type SearchQuestion } from "../../search/searcher.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { FromSearcher, IndexLocation, ToSearcher } from "./messages.ts";
import { createRemoteAnswerer } from "./remote-call.ts";
import { openEmbeddings, queryLimits, threadRuntime } from "./thread.ts";

const { folder, embeddings } = workerData as IndexLocation;
const post = (message: FromSearcher): void => parentPort!.postMessage(message, []);
const runtime = threadRuntime(post);
const searcher = createSearcher({
  folder,
  openStore,
  runtime,
  embeddings: openEmbeddings(embeddings, runtime, queryLimits),
});
const answerer = createRemoteAnswerer<SearchQuestion, SearchFindings>(post, async (question, signal) => {
  try {
    // Skips a search that is cancelled immediately, as while typing.
    await setImmediate();
    signal.throwIfAborted();
    return await searcher.search(question, signal);
  } catch (cause) {
    if (!(cause instanceof ResourceError) && !signal.aborted) runtime.log("error", "a search failed", { cause });
    throw cause;
  }
});

parentPort!.on("message", (message: ToSearcher) => {
  if (!("close" in message)) return void answerer.hear(message).then(releaseGrowth);
  searcher.close();
  parentPort!.close();
});
