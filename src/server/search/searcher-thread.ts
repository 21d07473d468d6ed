/** The thread that answers from the index: no question waits behind what is being indexed. */
import { parentPort, workerData } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { createSearcher } from "../../search/searcher.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { FromSearcher, IndexPlace, ToSearcher } from "./messages.ts";
import { openEmbeddings, threadTools, toFailure } from "./thread.ts";

/** Who asks does not wait longer for a vector. */
const embeddingMs = 2000;

const { folder, embeddings } = workerData as IndexPlace;
const tools = threadTools(post);
const searcher = createSearcher({
  folder,
  openStore,
  tools,
  embeddings: openEmbeddings(embeddings, tools, { timeoutMs: embeddingMs, retries: 0 }),
});
const asked = new Map<number, AbortController>();

parentPort!.on("message", (message: ToSearcher) => {
  if ("question" in message) void answer(message);
  else if ("withdraw" in message) asked.get(message.withdraw)?.abort();
  else {
    searcher.close();
    parentPort!.close();
  }
});

async function answer({ id, question }: Extract<ToSearcher, { readonly id: number }>): Promise<void> {
  const stop = new AbortController();
  asked.set(id, stop);
  try {
    // What is withdrawn at once, as by who types on, is not begun.
    await new Promise((resolve) => setImmediate(resolve));
    stop.signal.throwIfAborted();
    post({ id, hits: await searcher.search(question, stop.signal) });
  } catch (cause) {
    if (!(cause instanceof ResourceError) && !stop.signal.aborted) tools.log("error", "a search failed", { cause });
    post({ id, failure: toFailure(cause) });
  } finally {
    asked.delete(id);
  }
}

function post(message: FromSearcher): void {
  parentPort!.postMessage(message, []);
}
