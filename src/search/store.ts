/** The promise between those who fill an index, those who ask it, and how it is kept. */
import type { Entry } from "../source.ts";

/** What is put in: one resource and its text. */
export interface IndexedDocument {
  readonly mount: string;
  /** As the source lists it, with the version that the text belongs to. A hit shows it. */
  readonly entry: Entry;
  /** Decoded. Offsets count its UTF-16 code units. */
  readonly text: string;
}

/** What is known to be in. */
export interface Stored {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly version?: string;
}

export interface StoreQuery {
  /** As the person typed it: words, "phrases", `-not`, `path:`, `mime:`, `source:`, `lang:`, `after:`, `priority:`, `audience:`. */
  readonly text: string;
  /** How many resources, not passages. */
  readonly limit: number;
  /** Only these mounts; all unless said. */
  readonly mounts?: readonly string[];
  /** Only this path and what is below it. */
  readonly within?: string;
  /** Whether the last word may not be finished yet. */
  readonly typing?: boolean;
  /** The question as a vector, where there is an embedding model: ranks are fused. */
  readonly vector?: Float32Array;
}

/** The best passage of one resource. */
export interface StoreHit {
  readonly mount: string;
  readonly entry: Entry;
  readonly score: number;
  /** A piece of the text, as it stands there: `text.slice(offset, offset + snippet.length)`. */
  readonly snippet: string;
  readonly offset: number;
  /** What matched, as [from, to) in the snippet. In order, disjoint. */
  readonly marks: readonly (readonly [from: number, to: number])[];
  /** The passage's lines, counted from 1, both ends included. */
  readonly lines: readonly [first: number, last: number];
}

/** A passage that has no vector yet. */
export interface Unembedded {
  readonly id: number;
  readonly text: string;
}

export interface IndexStoreOptions {
  readonly readOnly?: boolean;
  /** Asked again and again during long work: once it is true, the call is undone and throws "cancelled". */
  readonly isStopped?: () => boolean;
}

/** Everything is done when a call returns; what was put in is there after a crash, whole or not at all. For one thread. */
export interface IndexStore {
  /** Replaces what was there at these addresses. All or nothing. */
  put(documents: readonly IndexedDocument[]): void;
  /** What is not there is no failure. */
  remove(mount: string, addresses: readonly Pick<Stored, "path" | "query">[]): void;
  /** Removes the path and all below it. */
  removeBelow(mount: string, path: string): void;
  /** All of a mount, in the order of addresses, behind the one that is named. */
  stored(
    mount: string,
    ask: { readonly after?: Pick<Stored, "path" | "query">; readonly limit: number },
  ): readonly Stored[];
  /** Which mounts have something in, and how much. */
  counts(): readonly { readonly mount: string; readonly documents: number; readonly passages: number }[];
  /** Best first. A question that cannot be understood throws "invalid". */
  search(ask: StoreQuery): readonly StoreHit[];
  unembedded(limit: number): readonly Unembedded[];
  /** Passages that are gone meanwhile are passed over. */
  embed(vectors: readonly { readonly id: number; readonly vector: Float32Array }[]): void;
  /** Notes of whoever fills it (how far it has come, which model the vectors are of). */
  note(name: string): string | undefined;
  setNote(name: string, value: string): void;
  close(): void;
}

/**
 * `openStore(file)` in sqlite-store.ts opens or makes one. A file that is damaged, or that another tokenizer or ICU has made, is made anew; a file
 * opened with `readOnly` is never written.
 */
export type OpenStore = (file: string, options?: IndexStoreOptions) => IndexStore;
