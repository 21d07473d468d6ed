/** The main thread's side of the searcher thread. */
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import type { SearchQuestion } from "../../search/searcher.ts";
import type { Runtime } from "../../source.ts";
import type { Answered, FromSearcher, IndexLocation, ToSearcher } from "./messages.ts";
import { threadEnded, startThread } from "./start-thread.ts";
import { fromThreadError } from "./thread.ts";

export interface SearcherClient {
  /** `withStatus` also requests the status from the process that maintains the index. */
  search(question: SearchQuestion, signal: AbortSignal, withStatus: boolean): Promise<Answered>;
  /** Stops the thread. */
  close(): Promise<void>;
}

export interface QuestionsOptions {
  readonly isEager: boolean;
  /** Called when the database is found to be damaged. */
  damaged(): void;
}

/** The first search starts the thread, or creation if a search is certain; after a failure, the next search. */
export function createSearcherClient(
  place: IndexLocation,
  runtime: Pick<Runtime, "log">,
  { isEager, damaged }: QuestionsOptions,
): SearcherClient {
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let count = 0;
  let isClosed = false;
  let thread = isEager ? start() : undefined;

  function start(): Worker {
    const worker = startThread(new URL("./searcher-thread.ts", import.meta.url), {
      name: "pressmark-searcher",
      workerData: place,
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 },
    });
    worker.on("message", (message: FromSearcher) => {
      if ("log" in message) return runtime.log(...message.log);
      const pending = waiting.get(message.id);
      waiting.delete(message.id);
      if ("hits" in message) return pending?.resolve(message);
      if (message.isDamaged) damaged();
      pending?.reject(fromThreadError(message.failure));
    });
    worker.on("error", (cause) => runtime.log("error", "the searcher thread failed", { cause }));
    worker.once("exit", () => {
      if (thread === worker) thread = undefined;
      const gone = new ResourceError("unavailable", "the index is currently unavailable; try again");
      for (const pending of waiting.values()) pending.reject(gone);
      waiting.clear();
    });
    return worker;
  }

  return {
    async search(question, signal, withStatus) {
      if (isClosed || signal.aborted) throw cancelled();
      const id = (count += 1);
      const pending = Promise.withResolvers<Answered>();
      const asking = (thread ??= start());
      const post = (message: ToSearcher): void => asking.postMessage(message, []);
      const cancel = (): void => {
        if (!waiting.delete(id)) return;
        post({ cancel: id });
        pending.reject(cancelled());
      };
      waiting.set(id, pending);
      signal.addEventListener("abort", cancel, { once: true });
      post({ id, question, withStatus });
      try {
        return await pending.promise;
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },

    async close() {
      isClosed = true;
      if (thread) await threadEnded(thread);
    },
  };
}

function cancelled(): ResourceError {
  return new ResourceError("cancelled", "cancelled");
}
