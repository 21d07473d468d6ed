/** The contract of an index store, between those who fill it, those who search it, and its implementation. */
import type { Address, Entry } from "../source.ts";
import type { Tier } from "./query-match.ts";
import type { Visibility } from "./visibility.ts";

/** One resource and its text. */
export interface IndexedDocument {
  readonly mount: string;
  /** As the source lists it, with the version of the text. A hit shows it. */
  readonly entry: Entry;
  /** Decoded. Offsets count its UTF-16 code units. */
  readonly text: string;
}

/** Address and version of a document in the index. */
export interface Stored {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly version?: string;
}

export interface StoreQuery {
  /** As typed: words, "phrases", `-not`, `path:`, `mime:`, `source:`, `lang:`, `after:`, `priority:`, `audience:`. */
  readonly text: string;
  /** Number of resources, not passages. */
  readonly limit: number;
  /** Only these mounts. Default: all. */
  readonly mounts?: readonly string[];
  /** Only this path and those below it. */
  readonly within?: string;
  /** True if the last word may be incomplete. */
  readonly typing?: boolean;
  /** The vector of the query, if there is an embedding model: both rankings are fused. */
  readonly vector?: Float32Array;
  /** Documents that exist for the caller. Others affect neither hits nor scores. Default: all. */
  readonly visibility?: Visibility;
}

/** A document whose visibility is to be decided. */
export interface DocumentAddress extends Address {
  readonly id: number;
  readonly mount: string;
  readonly reveals?: Address;
}

/** The best passage of one resource. */
export interface StoreHit {
  readonly mount: string;
  readonly entry: Entry;
  readonly score: number;
  /** An excerpt of the text, unchanged: `text.slice(offset, offset + snippet.length)`. */
  readonly snippet: string;
  readonly offset: number;
  /** Matches in the snippet, as [from, to). In order, disjoint. */
  readonly marks: readonly (readonly [from: number, to: number])[];
  /** First and last line of the passage, from 1, both included. */
  readonly lines: readonly [first: number, last: number];
  /**
   * True if the document contains every content word of the query: in its text, headings, description, title or path. Function words and
   * Japanese grammar do not count. A word may be inflected as the stemmer allows, and written in other case, width or kana; an identifier, a path and
   * a run of kanji or katakana must occur as a whole. A corrected typing error is no match. A further word never adds a match.
   */
  readonly isMatch: boolean;
  /**
   * Hits are in the order of their tiers, the highest first: `named` if the query is the name, title or path of the document or a name that it
   * defines, else `matching` for a match, except one that has more than two content words and all of them in no single passage.
   */
  readonly tier: Tier;
}

/** A passage that has no vector yet. */
export interface Unembedded {
  readonly id: number;
  readonly text: string;
}

interface IndexStoreOptions {
  readonly readOnly?: boolean;
  /** True if the file is known to be intact: it is not checked. */
  readonly isWhole?: boolean;
  /** Polled during long work: once it is true, the call is rolled back and throws "cancelled". */
  readonly isStopped?: (() => boolean) | undefined;
}

/** All methods are synchronous; a `put` survives a crash completely or not at all. For one thread. */
export interface IndexStore {
  /**
   * Replaces the documents at these addresses. All or nothing. With `isMore`, they may be stored and found only after `commit`, or after another
   * call that changes the index: many texts that are stored together take less time.
   */
  put(documents: readonly IndexedDocument[], isMore?: boolean): void;
  /**
   * Stores what was put with `isMore`. Throws if documents of this mount were lost because another call failed. With `isLast`, memory that only
   * many further documents would need is released.
   */
  commit(mount: string, isLast?: boolean): void;
  /** Missing addresses are ignored. */
  remove(mount: string, addresses: readonly Pick<Stored, "path" | "query">[]): void;
  /** Removes the path and all below it. */
  removeBelow(mount: string, path: string): void;
  /** The documents of a mount, in the order of addresses, after the given one. */
  stored(
    mount: string,
    request: { readonly after?: Pick<Stored, "path" | "query">; readonly limit: number },
  ): readonly Stored[];
  /** Number of documents and passages of each mount that has any. */
  counts(): readonly { readonly mount: string; readonly documents: number; readonly passages: number }[];
  /**
   * Best first. An invalid query throws "invalid". `count` gets the number of rows that such a query reads. It depends on the query and on the
   * magnitude of what is visible alone.
   */
  search(request: StoreQuery, count?: (rows: number) => void): readonly StoreHit[];
  /** Documents with a greater id than this, in order. */
  addresses(after: number, limit: number): readonly DocumentAddress[];
  /** Those of these documents that exist. */
  addressesOf(ids: readonly number[]): readonly DocumentAddress[];
  unembedded(limit: number): readonly Unembedded[];
  /** Passages that no longer exist are ignored. */
  embed(vectors: readonly { readonly id: number; readonly vector: Float32Array }[]): void;
  /** Notes of the writer (progress, model of the vectors). */
  note(name: string): string | undefined;
  setNote(name: string, value: string): void;
  close(): void;
}

export type MaybePromise<T> = T | Promise<T>;

type Later<Method> = Method extends (...values: infer Values) => infer Result
  ? (...values: Values) => MaybePromise<Result>
  : never;

/** What a crawl needs of a store: the embedded one answers at once, a shared one later. */
export type CrawledStore = {
  readonly [Name in "put" | "remove" | "removeBelow" | "stored" | "note" | "setNote"]: Later<IndexStore[Name]>;
} & {
  /** Absent if every `put` stores at once. */
  readonly commit?: IndexStore["commit"];
};

/**
 * `openStore(file)` in sqlite-store.ts opens or creates one. A file that is damaged, or was made by another tokenizer or ICU version,
 * is created again; a file opened with `readOnly` is never written.
 */
export type OpenStore = (file: string, options?: IndexStoreOptions) => IndexStore;

/**
 * An index that several instances share, with the promises of `IndexStore`. It has no vectors: a vector in a query is ignored. A writer whose
 * lease another instance has taken, or whose version is older than that of the index, is refused with "denied", and changes nothing.
 */
export interface AsyncIndexStore {
  put(documents: readonly IndexedDocument[]): Promise<void>;
  remove(mount: string, addresses: readonly Pick<Stored, "path" | "query">[]): Promise<void>;
  removeBelow(mount: string, path: string): Promise<void>;
  stored(
    mount: string,
    request: { readonly after?: Pick<Stored, "path" | "query"> | undefined; readonly limit: number },
  ): Promise<readonly Stored[]>;
  counts(): Promise<readonly { readonly mount: string; readonly documents: number; readonly passages: number }[]>;
  search(request: StoreQuery, count?: (rows: number) => void, signal?: AbortSignal): Promise<readonly StoreHit[]>;
  addresses(after: number, limit: number): Promise<readonly DocumentAddress[]>;
  addressesOf(ids: readonly number[]): Promise<readonly DocumentAddress[]>;
  note(name: string): Promise<string | undefined>;
  setNote(name: string, value: string): Promise<void>;
  close(): Promise<void>;
}
