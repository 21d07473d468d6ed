/** Shared by the index threads: cloneable errors and log lines, and their runtime. */
import { ResourceError, toResourceError } from "../../errors.ts";
import { createEmbeddings, type EmbeddingLimits, type EmbeddingOptions } from "../../search/embeddings.ts";
import type { Runtime } from "../../source.ts";
import { createRuntime } from "../runtime.ts";
import type { ThreadError, ThreadLogLine } from "./messages.ts";

export function toThreadError(cause: unknown): ThreadError {
  const { kind, message, passing } = toResourceError(cause);
  return { kind, message, passing };
}

export function fromThreadError({ kind, message, passing }: ThreadError): ResourceError {
  return new ResourceError(kind, message, { passing });
}

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
