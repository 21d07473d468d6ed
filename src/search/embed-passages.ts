/** Computes the vector of every passage of an index, while the endpoint works. */
import { toResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import type { Embeddings } from "./embeddings.ts";
import type { EmbeddingStatus } from "./status.ts";
import type { IndexStore } from "./store.ts";

interface EmbeddingWork {
  readonly model: string;
  readonly client: Embeddings;
  readonly runtime: Runtime;
  /** Called whenever the status has changed. */
  moved(): void;
}

const atOnce = 64;
/** Changes come in groups: waits this long to collect them. */
const gatherMs = 250;
/** Pause after a failure of the endpoint. */
const downMs = 30_000;

export function createEmbedding({ model, client, runtime, moved }: EmbeddingWork) {
  let status: EmbeddingStatus = { model, state: "working" };
  let wakeUp: (() => void) | undefined;

  function set(state: EmbeddingStatus["state"], lastError?: string): void {
    if (status.state === state) return;
    status = { model, state, lastError };
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
        runtime.log("warn", "embeddings are currently unavailable; search uses words only", { cause });
      set("down", toResourceError(cause).message);
      await runtime.wait(downMs, signal).catch(() => undefined);
    }
  }

  return {
    get status(): EmbeddingStatus {
      return status;
    },

    /** There may be passages without a vector. */
    wake(): void {
      if (status.state === "complete") status = { model, state: "working" };
      wakeUp?.();
    },

    /** Runs until the signal is aborted; to run again it must be woken once more. */
    async run(store: IndexStore, signal: AbortSignal): Promise<void> {
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
