/** Keeps one index true to all its mounts, for as long as no other process does. */
import { ResourceError, toResourceError } from "../errors.ts";
import type { Source, Tools } from "../source.ts";
import { type Crawl, createCrawl, type HeardChange } from "./crawl.ts";
import { createEmbedding } from "./embed-passages.ts";
import type { Embeddings } from "./embeddings.ts";
import { indexFolder } from "./index-folder.ts";
import { type Lease, takeLease } from "./lease.ts";
import type { IndexStatus, Role } from "./status.ts";
import type { OpenStore, Store } from "./store.ts";

export interface IndexedMount {
  readonly name: string;
  /** What the mount is made from. With another key, what was indexed under its name is of something else, and is forgotten. */
  readonly key: string;
  /** Whether its changes will be told. */
  readonly isWatched: boolean;
}

export interface IndexerOptions {
  readonly folder: string;
  readonly openStore: OpenStore;
  readonly tools: Tools;
  readonly maxFileBytes: number;
  /** How large the index may become on disk. */
  readonly maxBytes: number;
  /** A mount of more files than this is not indexed. */
  readonly maxFiles?: number;
  readonly everyMs?: number;
  /** How often a process that does not keep the index looks whether it should. */
  readonly leaseMs?: number;
  /** Whether one pass is all that is wanted. */
  readonly once?: boolean;
  readonly embeddings?: { readonly model: string; readonly client: Embeddings } | undefined;
  /** Called only in the process that keeps the index. */
  open(mount: string): Promise<Source>;
  /** Asks for a mount's changes. Resolves once they are sure to be told. */
  follow(mount: string, signal: AbortSignal): Promise<void>;
  tell(role: Role, status: IndexStatus | undefined): void;
  /** The index cannot be opened. It may be tried again later, with another indexer. */
  gaveUp(): void;
}

export interface Indexer {
  /** From here on these are the mounts of the index, and no others. */
  serve(mounts: readonly IndexedMount[]): void;
  hear(mount: string, changes: readonly HeardChange[]): void;
  /** Afterwards nothing runs and nothing is held. */
  close(): Promise<void>;
}

/** A mount that is being kept. */
interface Kept {
  readonly mount: IndexedMount;
  readonly stop: AbortController;
  crawl: Crawl | undefined;
  failure: string | undefined;
  done: Promise<void>;
}

/** The note under which the key of a mount stands. */
export const keyNote = (mount: string): string => `mount:${mount}`;

/** The note that says which model the vectors are of. */
export const modelNote = "embeddings";

const tellMs = 250;

export function createIndexer(options: IndexerOptions): Indexer {
  const { tools, openStore, maxBytes, leaseMs = 2000, once = false, embeddings, tell } = options;
  const files = indexFolder(options.folder);
  const closing = new AbortController();
  const kept = new Map<string, Kept>();
  let wanted: readonly IndexedMount[] = [];
  let store: Store | undefined;
  let role: Role = "starting";
  let isFull = false;
  const embedding = embeddings && createEmbedding({ ...embeddings, tools, moved: publish });
  let telling: Promise<void> | undefined;
  const served = Promise.withResolvers<void>();
  /** Changes of what is served are made one after the other. */
  let arranging: Promise<void> = Promise.resolve();

  function status(): IndexStatus {
    const counts = new Map((store?.counts() ?? []).map((each) => [each.mount, each]));
    return {
      mounts: wanted.map(({ name, key }) => {
        const { crawl, failure } = kept.get(name) ?? {};
        const state = crawl?.state;
        const { documents = 0, passages = 0 } = counts.get(name) ?? {};
        const lastError = isFull
          ? "the index is as large as it may be; see search.maxBytes"
          : (failure ?? state?.lastError);
        return {
          name,
          key,
          state: isFull ? "full" : failure === undefined ? (state?.phase ?? "waiting") : "failing",
          documents,
          passages,
          looked: state?.looked ?? 0,
          total: state?.total ?? 0,
          pending: state ? Math.max(0, state.total - state.looked) + state.changes : 0,
          unread: state?.unread ?? 0,
          ready: isFull ? Math.min(state?.ready ?? 0, 0.99) : (state?.ready ?? 0),
          ...(lastError !== undefined && { lastError }),
        };
      }),
      bytes: files.bytes(),
      ...(embedding && { embeddings: embedding.status }),
    };
  }

  function publish(): void {
    if (role !== "writer" || closing.signal.aborted) return;
    const now = status();
    tell(role, now);
    try {
      files.writeStatus(now);
    } catch (cause) {
      tools.log("info", "how far the index has come cannot be written down for others", { cause });
    }
  }

  /** What others wait for they hear at once, otherwise now and then. */
  function moved(): void {
    embedding?.wake();
    telling ??= tools
      .wait(tellMs, closing.signal)
      .then(() => {
        telling = undefined;
        publish();
      })
      .catch(() => undefined);
  }

  async function keep(each: Kept): Promise<void> {
    const { mount, stop } = each;
    const { signal } = stop;
    let source: Source | undefined;
    try {
      source = await options.open(mount.name);
      let before: string | undefined;
      each.crawl = createCrawl({
        mount: mount.name,
        source,
        store: store!,
        tools,
        isWatched: mount.isWatched,
        once,
        maxFileBytes: options.maxFileBytes,
        ...(options.maxFiles !== undefined && { maxFiles: options.maxFiles }),
        ...(mount.isWatched && { follow: (stopped) => options.follow(mount.name, stopped) }),
        ...(options.everyMs !== undefined && { everyMs: options.everyMs }),
        mayGrow() {
          isFull = files.bytes() >= maxBytes;
          return !isFull;
        },
        moved() {
          const { phase } = each.crawl!.state;
          moved();
          if (phase === before) return;
          before = phase;
          publish();
        },
      });
      await each.crawl.run(signal);
    } catch (cause) {
      if (signal.aborted) return;
      each.failure = toResourceError(cause).message;
      tools.log("error", "a mount cannot be indexed", { mount: mount.name, cause });
      publish();
    } finally {
      await source?.close?.().catch((cause: unknown) => {
        tools.log("error", "a source could not be closed", { mount: mount.name, cause });
      });
    }
  }

  /** Ends what is wanted no longer and begins what is new. Called only by the one who writes. */
  async function arrange(): Promise<void> {
    for (const [name, each] of kept) {
      if (wanted.some((mount) => mount.name === name && mount.key === each.mount.key)) continue;
      each.stop.abort();
      await each.done;
      kept.delete(name);
    }
    if (!store || closing.signal.aborted) return;
    const names = new Set(wanted.map(({ name }) => name));
    for (const { mount } of store.counts()) if (!names.has(mount)) forget(mount, "");
    for (const mount of wanted) {
      if (kept.has(mount.name)) continue;
      if (store.note(keyNote(mount.name)) !== mount.key) forget(mount.name, mount.key);
      const each: Kept = {
        mount,
        stop: new AbortController(),
        crawl: undefined,
        failure: undefined,
        done: Promise.resolve(),
      };
      kept.set(mount.name, each);
      each.done = keep(each);
    }
    publish();
  }

  /** The key is noted last: who is stopped on the way forgets once more. */
  function forget(mount: string, key: string): void {
    store!.setNote(keyNote(mount), "");
    store!.removeBelow(mount, "");
    store!.setNote(`total:${mount}`, "");
    store!.setNote(keyNote(mount), key);
  }

  /** Vectors of another model say nothing beside those of this one. */
  function chooseModel({ model }: { readonly model: string }): void {
    const before = store!.note(modelNote);
    if (before === model) return;
    if (before) for (const { mount } of store!.counts()) forget(mount, "");
    store!.setNote(modelNote, model);
  }

  async function untilLease(signal: AbortSignal): Promise<Lease | undefined> {
    while (!signal.aborted) {
      const lease = takeLease(files.lock);
      if (lease) return lease;
      role = "reader";
      tell(role, files.readStatus());
      await tools.wait(leaseMs, signal).catch(() => undefined);
    }
    return undefined;
  }

  async function run(): Promise<void> {
    const { signal } = closing;
    await Promise.race([served.promise, ended(signal)]);
    const lease = await untilLease(signal);
    if (!lease) return;
    try {
      // What another said before it died is no longer so.
      files.writeStatus(undefined);
      store = openStore(files.database);
      if (embeddings) chooseModel(embeddings);
      role = "writer";
      arranging = arranging.then(arrange);
      await arranging;
      const embedded = embedding?.run(store, signal);
      await ended(signal);
      await arranging.catch(() => undefined);
      for (const { stop } of kept.values()) stop.abort();
      await Promise.all([...[...kept.values()].map(({ done }) => done), embedded]);
    } finally {
      store?.close();
      store = undefined;
      lease.release();
    }
  }

  const running = run().catch((cause: unknown) => {
    if (closing.signal.aborted) return;
    const { message } = cause instanceof ResourceError ? cause : { message: "the index cannot be opened" };
    tools.log("error", "the search index cannot be kept", { cause });
    tell("writer", {
      mounts: wanted.map(({ name, key }) => ({ ...nothing, name, key, state: "failing", lastError: message })),
      bytes: 0,
    });
    options.gaveUp();
  });

  return {
    serve(mounts) {
      wanted = mounts;
      served.resolve();
      if (role === "writer") arranging = arranging.then(arrange);
    },
    hear: (mount, changes) => kept.get(mount)?.crawl?.hear(changes),
    async close() {
      closing.abort();
      embedding?.wake();
      await running;
    },
  };
}

const nothing = { documents: 0, passages: 0, looked: 0, total: 0, pending: 0, unread: 0, ready: 0 };

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
