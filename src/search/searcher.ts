/** Answers from an index that another thread or process keeps. */
import { statSync } from "node:fs";
import { toResourceError } from "../errors.ts";
import type { Tools } from "../source.ts";
import type { Embeddings } from "./embeddings.ts";
import { indexFolder } from "./index-folder.ts";
import { type IndexedMount, keyNote, modelNote } from "./indexer.ts";
import type { OpenStore, Store, StoreAsk, StoreHit } from "./store.ts";

export interface SearchQuestion extends Omit<StoreAsk, "vector" | "mounts"> {
  /** What was indexed under a name with another key is not looked at. */
  readonly mounts: readonly Pick<IndexedMount, "name" | "key">[];
}

export interface SearcherOptions {
  readonly folder: string;
  readonly openStore: OpenStore;
  readonly tools: Tools;
  readonly embeddings?: { readonly model: string; readonly client: Embeddings } | undefined;
}

export interface Searcher {
  search(question: SearchQuestion, signal: AbortSignal): Promise<readonly StoreHit[]>;
  close(): void;
}

/** An endpoint that has failed is left alone for so long. */
const downMs = 30_000;
const keptVectors = 100;

export function createSearcher({ folder, openStore, tools, embeddings }: SearcherOptions): Searcher {
  const { database } = indexFolder(folder);
  const vectors = new Map<string, Float32Array>();
  let open: { readonly store: Store; readonly file: string } | undefined;
  let downUntilMs = 0;

  /** The one of now: who keeps the index may make it anew. */
  function current(): Store | undefined {
    const stats = statSync(database, { bigint: true, throwIfNoEntry: false });
    const file = stats && `${stats.dev}-${stats.ino}-${stats.birthtimeNs}`;
    if (open && open.file === file) return open.store;
    close();
    if (file === undefined) return undefined;
    try {
      open = { store: openStore(database, { readOnly: true }), file };
      return open.store;
    } catch (cause) {
      // It is just being made, or by another version: its keeper sees to it.
      tools.log("info", "the search index cannot be read yet", { cause });
      return undefined;
    }
  }

  function close(): void {
    open?.store.close();
    open = undefined;
  }

  async function vectorOf(text: string, signal: AbortSignal): Promise<Float32Array | undefined> {
    if (!embeddings || tools.monotonicMs() < downUntilMs) return undefined;
    const known = vectors.get(text);
    if (known) return known;
    try {
      const [vector] = await embeddings.client.embed([text], signal);
      if (!vector) return undefined;
      for (const oldest of vectors.keys()) if (vectors.size >= keptVectors) vectors.delete(oldest);
      vectors.set(text, vector);
      return vector;
    } catch (cause) {
      if (signal.aborted) throw toResourceError(cause);
      downUntilMs = tools.monotonicMs() + downMs;
      tools.log("warn", "a question has no embedding just now, so search goes by words alone", { cause });
      return undefined;
    }
  }

  return {
    async search({ mounts, ...ask }, signal) {
      const isMeant = (store: Store) => mounts.filter(({ name, key }) => store.note(keyNote(name)) === key);
      let store = current();
      if (!store || isMeant(store).length === 0) return [];
      const isVectored = embeddings !== undefined && !ask.typing && store.note(modelNote) === embeddings.model;
      const vector = isVectored ? await vectorOf(ask.text, signal) : undefined;
      // It may have been made anew meanwhile.
      store = vector ? current() : store;
      const meant = store ? isMeant(store).map(({ name }) => name) : [];
      if (!store || meant.length === 0) return [];
      return store.search({ ...ask, mounts: meant, ...(vector && { vector }) });
    },
    close,
  };
}
