/** Searches an index that another thread or process writes. */
import { accessSync, constants } from "node:fs";
import { ResourceError, toResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import type { Embeddings } from "./embeddings.ts";
import { fileIdentity } from "../lib/file-identity.ts";
import { indexFolder } from "./index-folder.ts";
import { type IndexProblem, isLoss, toIndexProblem } from "./index-problem.ts";
import { type IndexedMount, keyNote, modelNote } from "./indexer.ts";
import { takeLease } from "./lease.ts";
import type { IndexStatus } from "./status.ts";
import type { DocumentAddress, OpenStore, IndexStore, StoreQuery, StoreHit } from "./store.ts";
import { createViewerGroups, undecidedAtOnce } from "./viewer-groups.ts";

export interface SearchQuestion extends Omit<StoreQuery, "vector" | "mounts" | "visibility"> {
  /** Documents that were indexed under the same name with another key are ignored. */
  readonly mounts: readonly Pick<IndexedMount, "name" | "key">[];
  /** Whether to return the status of the process that writes the index. */
  readonly withStatus: boolean;
  /** Callers who may see the same documents. Default: those who see everything. */
  readonly viewers?: ViewerGroup;
}

export interface ViewerGroup {
  readonly key: string;
  /** The decisions about the documents that an earlier search of this question returned as undecided. */
  readonly decided?: Omit<UndecidedDocuments, "documents"> & {
    readonly last: number;
    readonly visible: readonly number[];
    readonly postponed: readonly number[];
  };
}

/** Documents that must be decided before the question can be answered. */
export interface UndecidedDocuments {
  readonly file: string;
  readonly after: number;
  /** Whether they include those that were postponed before. */
  readonly again: boolean;
  readonly documents: readonly DocumentAddress[];
}

interface SearcherOptions {
  readonly folder: string;
  readonly openStore: OpenStore;
  readonly runtime: Runtime;
  readonly embeddings?: { readonly model: string; readonly client: Embeddings } | undefined;
}

export interface SearchFindings {
  readonly hits: readonly StoreHit[];
  /** Present instead of hits. */
  readonly undecided?: UndecidedDocuments;
  /** Number of rows that were read; absent if none. */
  readonly rows?: number;
  /** The database that was searched; absent if none could be opened. */
  readonly file?: string;
  /** Why none could be opened; "damaged" or "replaced" if it was found so. */
  readonly problem?: IndexProblem;
  /** Absent if no process writes the index: the last status may be outdated. */
  readonly status?: IndexStatus;
}

/** Pause after a failure of the endpoint. */
const downMs = 30_000;
const keptVectors = 100;

export function createSearcher({ folder, openStore, runtime, embeddings }: SearcherOptions) {
  const { database, guardSharedMemory, lock, readStatus } = indexFolder(folder);
  const vectors = new Map<string, Float32Array>();
  const visibilityOf = createViewerGroups();
  let open: Opened | undefined;
  let problem: IndexProblem | undefined;
  let downUntilMs = -Infinity;

  /** The current database: the writer of the index may have replaced it. */
  function current(): Opened | undefined {
    guardSharedMemory();
    const file = fileIdentity(database);
    if (open && open.file === file) return open;
    close();
    problem = undefined;
    if (file === undefined) return undefined;
    try {
      open = { store: openStore(database, { readOnly: true }), file, isOnReadOnlyDisk: !mayBeWritten(database) };
      return open;
    } catch (cause) {
      if (cause instanceof ResourceError && isLoss(cause.cause)) throw cause.cause;
      problem = toIndexProblem(cause);
      // It is being created, or was made by another version: its writer handles that.
      runtime.log("info", "the search index cannot be read yet", { cause });
      return undefined;
    }
  }

  function close(): void {
    guardSharedMemory();
    open?.store.close();
    open = undefined;
  }

  async function searchNow(
    { mounts, viewers, ...query }: Omit<SearchQuestion, "withStatus">,
    signal: AbortSignal,
  ): Promise<SearchFindings> {
    const currentMounts = (store: IndexStore) => mounts.filter(({ name, key }) => store.note(keyNote(name)) === key);
    let opened = current();
    if (!opened) return { hits: [], problem };
    const { store, file } = opened;
    if (currentMounts(store).length === 0) return { hits: [], file };
    const isVectored = embeddings !== undefined && !query.typing && store.note(modelNote) === embeddings.model;
    const vector = isVectored ? await vectorOf(query.text, signal) : undefined;
    // It may have been replaced meanwhile.
    if (isVectored) opened = current();
    if (!opened) return { hits: [], problem };
    const names = currentMounts(opened.store).map(({ name }) => name);
    if (names.length === 0) return { hits: [], file: opened.file };
    const visibility = viewers && visibilityOf(viewers, opened.file);
    if (visibility) {
      const { upTo, postponed } = visibility;
      const again = !viewers.decided && postponed.length > 0;
      const documents = [
        ...(again ? opened.store.addressesOf(postponed) : []),
        ...opened.store.addresses(upTo, undecidedAtOnce),
      ];
      if (documents.length > 0)
        return { hits: [], file: opened.file, undecided: { file: opened.file, after: upTo, again, documents } };
    }
    let rows = 0;
    const hits = opened.store.search({ ...query, mounts: names, vector, visibility }, (count) => (rows = count));
    return { hits, rows, file: opened.file };
  }

  function statusOfWriter(): IndexStatus | undefined {
    try {
      const lease = takeLease(lock);
      lease?.release();
      return lease ? undefined : readStatus();
    } catch {
      return undefined;
    }
  }

  async function vectorOf(text: string, signal: AbortSignal): Promise<Float32Array | undefined> {
    if (!embeddings || runtime.monotonicMs() < downUntilMs) return undefined;
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
      downUntilMs = runtime.monotonicMs() + downMs;
      runtime.log("warn", "the query could not be embedded; search uses words only", { cause });
      return undefined;
    }
  }

  return {
    async search({ withStatus, ...question }: SearchQuestion, signal: AbortSignal): Promise<SearchFindings> {
      // Read first, so that the results are at least as new.
      const status = withStatus ? statusOfWriter() : undefined;
      try {
        return { ...(await searchNow(question, signal)), status };
      } catch (cause) {
        if (!isLoss(cause)) throw cause;
        close();
        return { hits: [], problem: toIndexProblem(cause) };
      } finally {
        if (open?.isOnReadOnlyDisk) close();
      }
    },
    close,
  };
}

interface Opened {
  readonly store: IndexStore;
  readonly file: string;
  /**
   * True if it is open for one search only: SQLite opens the shared memory once per process, so a writer in this process
   * could not write while this connection is open, even after the disk becomes writable.
   */
  readonly isOnReadOnlyDisk: boolean;
}

function mayBeWritten(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
