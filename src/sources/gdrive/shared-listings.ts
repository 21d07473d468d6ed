/** Complete listings that the instances of a server share: what one has listed, the others need not request from Google. */
import { createHash, randomUUID } from "node:crypto";
import type { Runtime, SharedCacheRecord } from "../../source.ts";
import type { DriveFile } from "./drive-objects.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerKey } from "./ledger-file.ts";
import type { DriveSourceOptions } from "./options.ts";

/** A stored listing of one log. Its files are in chunks, which exist as long as no other listing replaces it. */
export interface SharedListing {
  /** Random. */
  readonly id: string;
  /** Where its changes continue. */
  readonly token: string;
  readonly chunks: number;
  /** Number of files. */
  readonly files: number;
  /** Key and version of its record. */
  readonly key: string;
  readonly version: string;
}

interface NewListing extends Pick<SharedListing, "token"> {
  readonly log: string;
  pageAfter(id: string): ReturnType<Ledger["listing"]>;
  /** Nothing is stored if another listing has already replaced this one. Default: it replaces any. */
  readonly replaced?: SharedListing | undefined;
}

/** Never rejects: while the shared state is away, it is as if there were no other instances. That is logged once. */
export interface SharedListings {
  find(account: string, log: string): Promise<SharedListing | undefined>;
  /** Undefined if they are missing or damaged. */
  filesOf(listing: SharedListing, chunk: number): Promise<readonly DriveFile[] | undefined>;
  /** Undefined while another instance lists this log. */
  tryAcquire(account: string, log: string): Promise<{ release(): Promise<void> } | undefined>;
  /** Returns the id of the stored listing; undefined if it was not stored. */
  store(account: string, listing: NewListing, signal: AbortSignal): Promise<string | undefined>;
}

/** Changes with the content of the records: a version that stores other content uses other records. */
const format = 1;
/** Of JSON, unless a single file has more. */
const maxChunkLength = 256 * 1024;
/** Removes chunks that a crashed instance left, and listings that nobody uses any more. */
const expiresInMs = 30 * 86_400_000;

/** Undefined if there are no other instances, or if nothing may be stored. */
export function createSharedListings(
  options: DriveSourceOptions,
  { sharedCache: cache, log: report }: Pick<Runtime, "sharedCache" | "log">,
): SharedListings | undefined {
  if (!cache || !options.keep) return undefined;
  let isLogged = false;

  async function attempt<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (!isLogged)
        report("warn", "the file list of Drive cannot be shared with other instances at present", { cause });
      isLogged = true;
      return otherwise;
    }
  }

  const keyFor = (account: string, log: string): string =>
    digestOf([format, ledgerKey(options), account, log]).slice(0, 32);

  return {
    find(account, log) {
      const key = keyFor(account, log);
      return attempt(async () => toListing(key, await cache.get(key)), undefined);
    },

    filesOf: (listing, chunk) =>
      attempt(async () => {
        const { files, digest } = (await cache.get(chunkKey(listing, chunk)))?.value ?? {};
        return Array.isArray(files) && digest === digestOf(files) ? (files as DriveFile[]) : undefined;
      }, undefined),

    tryAcquire: (account, log) =>
      attempt(() => cache.tryAcquire(keyFor(account, log)), { release: async () => undefined }),

    store: (account, { log, token, pageAfter, replaced }, signal) =>
      attempt(async () => {
        const key = keyFor(account, log);
        const before = await cache.get(key);
        if (replaced && before?.version !== replaced.version) return undefined;
        const listing = { key, id: randomUUID(), token, chunks: 0, files: 0 };
        for (const files of chunksOf(pageAfter)) {
          if (signal.aborted) return undefined;
          await cache.put(chunkKey(listing, listing.chunks), { files, digest: digestOf(files) }, { expiresInMs });
          listing.chunks += 1;
          listing.files += files.length;
        }
        // Last: whoever finds it finds all chunks.
        const { key: _, ...head } = listing;
        const stored = await cache.put(key, head, { ifVersion: before?.version, expiresInMs });
        const unused = stored ? toListing(key, before) : listing;
        for (let chunk = 0; chunk < (unused?.chunks ?? 0); chunk += 1) await cache.remove(chunkKey(unused!, chunk));
        return stored && listing.id;
      }, undefined),
  };
}

function chunkKey({ key, id }: Pick<SharedListing, "key" | "id">, chunk: number): string {
  return `${key}:${id}:${chunk}`;
}

function* chunksOf(pageAfter: NewListing["pageAfter"]): Generator<readonly DriveFile[]> {
  let chunk: DriveFile[] = [];
  let length = 0;
  for (let page = pageAfter(""); page.last !== undefined; page = pageAfter(page.last))
    for (const file of page.files) {
      chunk.push(file);
      length += JSON.stringify(file).length;
      if (length < maxChunkLength) continue;
      yield chunk;
      [chunk, length] = [[], 0];
    }
  if (chunk.length > 0) yield chunk;
}

/** Undefined also for a damaged one. */
function toListing(key: string, record: SharedCacheRecord | undefined): SharedListing | undefined {
  const { id, token, chunks, files } = record?.value ?? {};
  if (typeof id !== "string" || typeof token !== "string" || typeof chunks !== "number" || typeof files !== "number")
    return undefined;
  return { id, token, chunks, files, key, version: record!.version };
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
