/** The house's side of the thread that answers from the index. */
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import type { SearchQuestion } from "../../search/searcher.ts";
import type { Tools } from "../../source.ts";
import type { Answered, FromSearcher, IndexPlace, ToSearcher } from "./messages.ts";
import { ended, startThread } from "./start-thread.ts";
import { fromFailure } from "./thread.ts";

export interface Questions {
  /** `withStatus` asks for what the process that keeps the index says of it. */
  search(question: SearchQuestion, signal: AbortSignal, withStatus: boolean): Promise<Answered>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

export interface QuestionsOptions {
  readonly isEager: boolean;
  /** Called when the database was found not to hold what was written. */
  damaged(): void;
}

/** The thread is started by the first question, unless one is sure to come; after a failure, by the next. */
export function createQuestions(
  place: IndexPlace,
  tools: Pick<Tools, "log">,
  { isEager, damaged }: QuestionsOptions,
): Questions {
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
      if ("said" in message) return tools.log(...message.said);
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if ("hits" in message) return asked?.resolve(message);
      if (message.isDamaged) damaged();
      asked?.reject(fromFailure(message.failure));
    });
    worker.on("error", (cause) => tools.log("error", "the thread that searches failed", { cause }));
    worker.once("exit", () => {
      if (thread === worker) thread = undefined;
      const gone = new ResourceError("unavailable", "the index cannot be searched just now; try again");
      for (const asked of waiting.values()) asked.reject(gone);
      waiting.clear();
    });
    return worker;
  }

  return {
    async search(question, signal, withStatus) {
      if (isClosed || signal.aborted) throw withdrawn();
      const id = (count += 1);
      const asked = Promise.withResolvers<Answered>();
      const asking = (thread ??= start());
      const post = (message: ToSearcher): void => asking.postMessage(message, []);
      const withdraw = (): void => {
        if (!waiting.delete(id)) return;
        post({ withdraw: id });
        asked.reject(withdrawn());
      };
      waiting.set(id, asked);
      signal.addEventListener("abort", withdraw, { once: true });
      post({ id, question, withStatus });
      try {
        return await asked.promise;
      } finally {
        signal.removeEventListener("abort", withdraw);
      }
    },

    async close() {
      isClosed = true;
      if (thread) await ended(thread);
    },
  };
}

function withdrawn(): ResourceError {
  return new ResourceError("cancelled", "the question was withdrawn");
}
