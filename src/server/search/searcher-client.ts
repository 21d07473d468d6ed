/** The main thread's side of the searcher thread. */
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import type { SearchFindings, SearchQuestion } from "../../search/searcher.ts";
import type { Runtime } from "../../source.ts";
import type { FromSearcher, IndexLocation } from "./messages.ts";
import { createRemoteCaller } from "./remote-call.ts";
import { threadEnded, startThread } from "./start-thread.ts";

export interface SearcherClient {
  search(question: SearchQuestion, signal: AbortSignal): Promise<SearchFindings>;
  /** Stops the thread. */
  close(): Promise<void>;
}

/** The first search starts the thread, or creation if a search is certain; after a failure, the next search. */
export function createSearcherClient(
  workerData: IndexLocation,
  runtime: Pick<Runtime, "log">,
  { isEager }: { readonly isEager: boolean },
): SearcherClient {
  const closing = new AbortController();
  let thread: Worker | undefined;
  const caller = createRemoteCaller<SearchQuestion, SearchFindings>((message) => {
    if ("question" in message) thread ??= start();
    thread?.postMessage(message, []);
  });

  function start(): Worker {
    const worker = startThread(new URL("./searcher-thread.ts", import.meta.url), {
      name: "pressmark-searcher",
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 2 },
    });
    worker.on("message", (message: FromSearcher) => {
      if ("log" in message) runtime.log(...message.log);
      else caller.hear(message);
    });
    worker.on("error", (cause) => runtime.log("error", "the searcher thread failed", { cause }));
    worker.once("exit", () => {
      if (thread === worker) thread = undefined;
      caller.failAll(new ResourceError("unavailable", "the index is currently unavailable; try again"));
    });
    return worker;
  }

  if (isEager) thread = start();
  return {
    search: (question, signal) => caller.call(question, closing.signal.aborted ? closing.signal : signal),

    async close() {
      closing.abort();
      if (thread) await threadEnded(thread);
    },
  };
}
