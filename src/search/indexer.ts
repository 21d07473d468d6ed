/** Keeps one index up to date with all its mounts, unless another process does so. */
import { toResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Source, Runtime } from "../source.ts";
import { type Crawl, createCrawl, type HeardChange, stateNote, totalNote } from "./crawl.ts";
import { createEmbedding } from "./embed-passages.ts";
import type { Embeddings } from "./embeddings.ts";
import { type GuardedStore, guardStore } from "./guard-store.ts";
import { fileIdentity } from "../lib/file-identity.ts";
import { indexFolder } from "./index-folder.ts";
import { IndexLostError, type IndexProblem, toIndexProblem } from "./index-problem.ts";
import { type IndexLease, takeLease } from "./lease.ts";
import { toMountStatus } from "./mount-status.ts";
import type { IndexStatus, Role } from "./status.ts";
import type { OpenStore, IndexStore } from "./store.ts";

export interface IndexedMount {
  readonly name: string;
  /** Identifies what the mount is made from. If it differs, what was indexed under the name is removed. */
  readonly key: string;
  /** True if changes of the mount will be reported. */
  readonly isWatched: boolean;
}

export interface IndexerOptions {
  readonly folder: string;
  readonly openStore: OpenStore;
  readonly runtime: Runtime;
  readonly maxFileBytes: number;
  /** Maximum size of the index on disk. */
  readonly maxBytes: number;
  /** A mount with more files is not indexed. */
  readonly maxFiles?: number;
  /** How often a process that does not write the index tries to become its writer. */
  readonly leaseMs?: number;
  /** True for a single pass. */
  readonly once?: boolean;
  /** Size of a batch; nothing else runs on the thread while it is stored. */
  readonly batchChars?: number;
  readonly embeddings?: { readonly model: string; readonly client: Embeddings } | undefined;
  /** Polled during long work, when no message can be received: true to stop everything. */
  readonly isStopped?: () => boolean;
  /** Called each time before the index is opened. Throws if its folder cannot be written. */
  prepare?(): void;
  /** Called only in the process that writes the index. */
  open(mount: string): Promise<Source>;
  /** Requests a mount's changes. Resolves once all later changes will be reported. */
  follow(mount: string, signal: AbortSignal): Promise<void>;
  tell(role: Role, status: IndexStatus | undefined): void;
}

/** A mount that is being indexed. */
interface IndexedRun {
  readonly mount: IndexedMount;
  readonly stop: AbortController;
  crawl: Crawl | undefined;
  failure: string | undefined;
  done: Promise<void>;
}

/** Name of the note with the key of a mount. */
export const keyNote = (mount: string): string => `mount:${mount}`;

/** Name of the note with the model of the vectors. */
export const modelNote = "embeddings";

const tellMs = 250;
/** Interval of the check that the files are still those that were opened. */
const checkMs = 1000;
const firstRetryMs = 250;
const longestRetryMs = 30_000;
/** An index that was open for so long is reopened without delay. */
const steadyMs = 10_000;

export function createIndexer(options: IndexerOptions) {
  const { runtime, openStore, maxBytes, leaseMs = 2000, once = false, embeddings, tell } = options;
  /** A single pass holds the lease only while it lasts: its process may then wait for a person who reads the results. */
  const isBrief = once && !embeddings;
  const files = indexFolder(options.folder);
  const closing = new AbortController();
  const runs = new Map<string, IndexedRun>();
  /** Number of the last change received for each mount. */
  const heard = new Map<string, number>();
  let wanted: readonly IndexedMount[] = [];
  /** Names of mounts whose documents stay stored although they are not indexed now. */
  let leftOut: readonly string[] = [];
  let guard: GuardedStore | undefined;
  let store: IndexStore | undefined;
  /** Identity of the open database. */
  let file: string | undefined;
  /** Why none is open. */
  let problem: IndexProblem | undefined;
  /** True if the database on disk is damaged. */
  let isSpoiled = false;
  /** Ends the current wait. */
  let wake: (() => void) | undefined;
  let role: Role = "starting";
  let isFull = false;
  const embedding = embeddings && createEmbedding({ ...embeddings, runtime, moved: publish });
  let telling: Promise<void> | undefined;
  const served = Promise.withResolvers<void>();
  /** Serialises changes of the set of mounts. */
  let arranging: Promise<void> = Promise.resolve();
  /** Closes the open index, with a cause. */
  let fail: ((cause: unknown) => void) | undefined;

  function status(): IndexStatus {
    const trouble = problem ?? guard?.problem;
    const counts = new Map((store?.counts() ?? []).map((each) => [each.mount, each]));
    return {
      mounts: wanted.map(({ name, key }) => {
        const { crawl, failure } = runs.get(name) ?? {};
        const { documents = 0, passages = 0 } = counts.get(name) ?? {};
        return toMountStatus({
          name,
          key,
          heard: heard.get(name) ?? 0,
          documents,
          passages,
          crawl: crawl?.state,
          failure,
          problem,
          isFull,
        });
      }),
      bytes: files.bytes(),
      problem: trouble,
      file,
      embeddings: embedding?.status,
      ...(once && { isSinglePass: true as const }),
    };
  }

  function publish(): void {
    if (role !== "writer" || closing.signal.aborted) return;
    let now: IndexStatus;
    try {
      now = status();
    } catch (cause) {
      // The cause is reported when the index is opened again.
      runtime.log("info", "the documents of the search index cannot be counted", { cause });
      return;
    }
    tell(role, now);
    try {
      files.writeStatus(now);
    } catch (cause) {
      runtime.log("info", "the status of the search index cannot be written for other processes", { cause });
    }
  }

  /** Publishes immediately what others wait for, everything else at intervals. */
  function moved(): void {
    embedding?.wake();
    telling ??= runtime
      .wait(tellMs, closing.signal)
      .then(() => {
        telling = undefined;
        publish();
      })
      .catch(() => undefined);
  }

  /** Indexes a mount until its signal ends. The crawl itself retries a mount that fails. */
  async function keep(each: IndexedRun): Promise<void> {
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
        runtime,
        isWatched: mount.isWatched,
        once,
        maxFileBytes: options.maxFileBytes,
        batchChars: options.batchChars,
        maxFiles: options.maxFiles,
        ...(mount.isWatched && { follow: (stopped) => options.follow(mount.name, stopped) }),
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
      runtime.log("error", "a mount cannot be indexed", { mount: mount.name, cause });
      publish();
    } finally {
      await source?.close?.().catch((cause: unknown) => {
        runtime.log("error", "a source could not be closed", { mount: mount.name, cause });
      });
    }
  }

  /** Stops what is no longer wanted and starts what is new. Called only by the writer. */
  async function arrange(): Promise<void> {
    for (const [name, each] of runs) {
      if (wanted.some((mount) => mount.name === name && mount.key === each.mount.key)) continue;
      each.stop.abort();
      await each.done;
      runs.delete(name);
    }
    if (!store || closing.signal.aborted) return;
    const names = new Set([...wanted.map(({ name }) => name), ...leftOut]);
    for (const { mount } of store.counts()) if (!names.has(mount)) forget(mount, "");
    for (const mount of wanted) {
      if (runs.has(mount.name)) continue;
      if (store.note(keyNote(mount.name)) !== mount.key) forget(mount.name, mount.key);
      const each: IndexedRun = {
        mount,
        stop: new AbortController(),
        crawl: undefined,
        failure: undefined,
        done: Promise.resolve(),
      };
      runs.set(mount.name, each);
      each.done = keep(each);
    }
    publish();
  }

  /** The key is written last: if the process stops before, the removal is repeated. */
  function forget(mount: string, key: string): void {
    store!.setNote(keyNote(mount), "");
    store!.removeBelow(mount, "");
    for (const name of [totalNote(mount), stateNote(mount)]) store!.setNote(name, "");
    store!.setNote(keyNote(mount), key);
  }

  /** Removes vectors of another model, which cannot be compared. */
  function chooseModel({ model }: { readonly model: string }): void {
    const before = store!.note(modelNote);
    if (before === model) return;
    if (before) for (const { mount } of store!.counts()) forget(mount, "");
    store!.setNote(modelNote, model);
  }

  async function untilLease(signal: AbortSignal): Promise<IndexLease | undefined> {
    while (!signal.aborted) {
      const lease = takeLease(files.lock);
      if (lease) return lease;
      role = "reader";
      problem = undefined;
      // The holder of the lease repairs it.
      isSpoiled = false;
      tell(role, statusOfOther());
      await rest(leaseMs, signal);
    }
    return undefined;
  }

  /** A process that makes a single pass does not follow changes: whoever does the same makes its own pass after it. */
  function statusOfOther(): IndexStatus | undefined {
    const other = files.readStatus();
    if (!once || !other?.isSinglePass) return other;
    return { ...other, mounts: other.mounts.map((mount) => ({ ...mount, ready: Math.min(mount.ready, 0.99) })) };
  }

  /** Resolves after this time, or earlier when there is something to check. */
  async function rest(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const end = (): void => woken.abort();
    wake = end;
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    await runtime.wait(ms, woken.signal).catch(() => undefined);
    signal.removeEventListener("abort", end);
    wake = undefined;
  }

  /** Keeps the index open until the signal is aborted. Throws if it cannot be opened, or is no longer what was opened. */
  async function keepIndex(signal: AbortSignal): Promise<void> {
    for (const path of files.prepare())
      runtime.log("warn", "a file or folder was in the way of the search index and was moved aside", { path });
    options.prepare?.();
    const lease = await untilLease(signal);
    if (!lease) return;
    const over = new AbortController();
    const failure = Promise.withResolvers<never>();
    failure.promise.catch(() => undefined);
    fail = failure.reject;
    let embedded: Promise<void> | undefined;
    let isInOrder = false;
    try {
      // The status of a writer that died is outdated.
      files.writeStatus(undefined);
      if (isSpoiled) files.removeDatabase();
      isSpoiled = false;
      const inner = openStore(files.database, { isStopped: options.isStopped, isWhole: files.takeClosed() });
      file = fileIdentity(files.database);
      guard = guardStore(inner, {
        files,
        lease,
        touched() {
          runtime.log("warn", "another program wrote to the search index; all mounts are checked again");
          for (const { crawl } of runs.values()) crawl?.hear([{ kind: "lost" }]);
        },
        lost(cause) {
          // Without the lease it belongs to another process, and may be intact.
          isSpoiled = lease.isHeld();
          for (const { stop } of runs.values()) stop.abort();
          failure.reject(cause);
        },
      });
      ({ store } = guard);
      if (embeddings) chooseModel(embeddings);
      role = "writer";
      problem = undefined;
      rearrange();
      await arranging;
      embedded = embedding?.run(store, over.signal);
      embedded?.catch(failure.reject);
      void checkOn(guard, over.signal);
      await Promise.race([ended(signal), failure.promise, ...(isBrief ? [everyRun()] : [])]);
      isInOrder = true;
    } finally {
      over.abort();
      embedding?.wake();
      await arranging;
      for (const { stop } of runs.values()) stop.abort();
      await Promise.all([...[...runs.values()].map(({ done }) => done), embedded?.catch(() => undefined)]);
      runs.clear();
      role = "starting";
      store?.close();
      if (isInOrder) markClosed();
      store = guard = file = undefined;
      lease.release();
    }
  }

  /** A database that was closed in order is not checked when it is opened again: that would take long. */
  function markClosed(): void {
    try {
      files.markClosed();
    } catch (cause) {
      runtime.log("info", "it cannot be recorded that the search index was closed", { cause });
    }
  }

  /** Resolves when all mounts have been indexed, or have failed. */
  async function everyRun(): Promise<void> {
    await Promise.all(Array.from(runs.values(), ({ done }) => done));
    publish();
  }

  async function checkOn({ check }: GuardedStore, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await rest(checkMs, signal);
      if (signal.aborted) return;
      check();
      files.confirmStatus();
    }
  }

  function rearrange(): void {
    arranging = arranging.then(arrange).catch((cause: unknown) => fail?.(cause));
  }

  async function run(): Promise<void> {
    const { signal } = closing;
    await Promise.race([served.promise, ended(signal)]);
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      const begunMs = monotonicMs();
      try {
        await keepIndex(signal);
        if (isBrief) return;
      } catch (cause) {
        if (signal.aborted) return;
        const before = problem?.reason;
        problem = toIndexProblem(cause);
        if (problem.reason !== before)
          runtime.log(cause instanceof IndexLostError ? "warn" : "error", problem.message, {
            folder: options.folder,
            cause,
          });
        tell(role, status());
        if (monotonicMs() - begunMs >= steadyMs) retryMs = firstRetryMs;
        await rest(retryMs, signal);
        retryMs = Math.min(retryMs * 2, longestRetryMs);
      }
    }
  }

  const running = run();

  return {
    /** Replaces the set of indexed mounts. Documents of the mounts named in `stored` are not removed. */
    serve(mounts: readonly IndexedMount[], stored: readonly string[] = []): void {
      wanted = mounts;
      leftOut = stored;
      served.resolve();
      if (role === "writer") rearrange();
    },
    /** `upTo` is the number of the last of these changes; the status contains it once they are taken into account. */
    hear(mount: string, changes: readonly HeardChange[], upTo?: number): void {
      if (upTo !== undefined) heard.set(mount, upTo);
      runs.get(mount)?.crawl?.hear(changes);
    },
    /** A search failed or found the index damaged: checks immediately whether it is still intact. */
    check(found?: "damaged"): void {
      if (found === "damaged") files.forgetClosed();
      if (found === "damaged") guard?.condemn();
      else guard?.check();
      publish();
      wake?.();
    },
    /** Afterwards nothing runs and nothing is held. */
    async close(): Promise<void> {
      closing.abort();
      embedding?.wake();
      await running;
    },
  };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
