/** Gives every passage of an index its vector, as long as the endpoint does. */
import { toResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import type { Embeddings } from "./embeddings.ts";
import type { EmbeddingStatus } from "./status.ts";
import type { IndexStore } from "./store.ts";

export interface EmbeddingWork {
  readonly model: string;
  readonly client: Embeddings;
  readonly runtime: Runtime;
  /** Called whenever the status is another. */
  moved(): void;
}

export interface Embedding {
  readonly status: EmbeddingStatus;
  /** There may be passages without a vector. */
  wake(): void;
  /** Works until the signal ends; then it is to be woken once more. */
  run(store: IndexStore, signal: AbortSignal): Promise<void>;
}

const atOnce = 64;
/** What comes, comes in numbers. */
const gatherMs = 250;
/** An endpoint that has failed is left alone for so long. */
const downMs = 30_000;

export function createEmbedding({ model, client, runtime, moved }: EmbeddingWork): Embedding {
  let status: EmbeddingStatus = { model, state: "working" };
  let wakeUp: (() => void) | undefined;

  function set(state: EmbeddingStatus["state"], lastError?: string): void {
    if (status.state === state) return;
    status = { model, state, ...(lastError !== undefined && { lastError }) };
    moved();
  }

  async function embed(
    store: IndexStore,
    passages: ReturnType<IndexStore["unembedded"]>,
    signal: AbortSignal,
  ): Promise<void> {
    const texts = passages.map(({ text }) => text);
    try {
      const vectors = await client.embed(texts, signal);
      if (signal.aborted) return;
      store.embed(passages.map(({ id }, at) => ({ id, vector: vectors[at]! })));
      set("working");
    } catch (cause) {
      if (signal.aborted) return;
      if (status.state !== "down")
        runtime.log("warn", "there are no embeddings just now, so search goes by words alone", { cause });
      set("down", toResourceError(cause).message);
      await runtime.wait(downMs, signal).catch(() => undefined);
    }
  }

  return {
    get status() {
      return status;
    },

    wake() {
      if (status.state === "complete") status = { model, state: "working" };
      wakeUp?.();
    },

    async run(store, signal) {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
        const passages = store.unembedded(atOnce);
        if (passages.length > 0) {
          await embed(store, passages, signal);
          continue;
        }
        set("complete");
        await woken;
        await runtime.wait(gatherMs, signal).catch(() => undefined);
      }
    },
  };
}
