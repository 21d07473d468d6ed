/** Shared by those who run an index: the runtime of a thread, whose log lines can be cloned, and embeddings. */
import { createEmbeddings, type EmbeddingLimits, type EmbeddingOptions } from "../../search/embeddings.ts";
import type { Runtime } from "../../source.ts";
import { createRuntime } from "../runtime.ts";
import type { ThreadLogLine } from "./messages.ts";

/** For the embedding of a query, which a search waits for. */
export const queryLimits: EmbeddingLimits = { timeoutMs: 2000, retries: 0 };

/** Sends log lines to the main thread. */
export function threadRuntime(post: (log: ThreadLogLine) => void): Runtime {
  return {
    ...createRuntime({ write: () => true }),
    log: (level, message, facts) => post({ log: [level, message, facts && plainFacts(facts)] }),
  };
}

function plainFacts(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      if (fact instanceof Error) return [name, fact.message];
      return [name, typeof fact === "object" && fact !== null ? JSON.stringify(fact) : fact];
    }),
  );
}

export function openEmbeddings(options: EmbeddingOptions | undefined, runtime: Runtime, limits: EmbeddingLimits = {}) {
  return options && { model: options.model, client: createEmbeddings(options, runtime, limits) };
}
