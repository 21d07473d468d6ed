/** The main thread's side of the index: starts the threads, sends them changes, and queries them. */
import { createHash } from "node:crypto";
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { releaseMemory } from "../../lib/v8-memory.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { Call } from "../../resources.ts";
import type { EmbeddingOptions } from "../../search/embeddings.ts";
import { IndexLostError, type IndexProblem, toIndexProblem } from "../../search/index-problem.ts";
import type { IndexStatus, MountStatus, Role } from "../../search/status.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import type { Source, SourceChange, SourceDefinition, Runtime } from "../../source.ts";
import { sources } from "../../sources/index.ts";
import type { Project } from "./index-location.ts";
import { createMountChanges } from "./mount-changes.ts";
import type { FromIndexer, IndexerData, SourceRequest, ThreadMount, ToIndexer } from "./messages.ts";
import { createSearcherClient } from "./searcher-client.ts";
import { threadEnded, startThread } from "./start-thread.ts";
import { toThreadError } from "./thread.ts";

/** A mount to index. */
export interface SearchedMount {
  readonly name: string;
  /** With its layers. */
  readonly source: Source;
  readonly definition: SourceDefinition;
  readonly options: unknown;
  /** Whether secrets are masked, also in the index. */
  readonly redact?: boolean;
  /** Whether only the main thread may open the source, because it checks each opening. */
  readonly onMainThread?: boolean;
}

export interface IndexThreadsOptions {
  readonly folder: string;
  /** What the index belongs to; stored beside it. */
  readonly project?: Project;
  /** Folder in which unused indexes are removed. */
  readonly cacheFolder?: string;
  readonly runtime: Runtime;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  /** Mounts with more files are not indexed. */
  readonly maxFiles?: number;
  readonly embeddings?: EmbeddingOptions;
  /** Whether to stop after one pass. */
  readonly once?: boolean;
  readonly leaseMs?: number;
  readonly everyMs?: number;
}

/** Status of the mounts that are indexed here. */
export interface ShownStatus extends Omit<IndexStatus, "mounts" | "file"> {
  readonly mounts: readonly ShownMountStatus[];
}

export type ShownMountStatus = Omit<MountStatus, "key" | "heard">;

export interface IndexThreads extends SearchIndex {
  /** Sets the mounts to index. */
  serve(mounts: readonly SearchedMount[]): void;
  readonly role: Role;
  /** Undefined until known. */
  readonly status: ShownStatus | undefined;
  /** Calls back whenever the status changes, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Resolves when every mount is indexed or failed, or there is no index; with `vectors`, also when all embeddings are done. */
  caughtUp(call: Pick<Call, "signal" | "progress">, more?: { readonly vectors?: boolean }): Promise<void>;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

/** Increase it when the indexed form of a text changes, to rebuild everything. */
const crawlVersion = 1;
/** States in which nothing more will happen. */
const endedStates: ReadonlySet<MountStatus["state"]> = new Set(["partial", "failing", "full", "large", "unavailable"]);
const firstRestartMs = 1000;
const longestRestartMs = 60_000;
/** A thread that ran this long is restarted without delay. */
const steadyMs = 60_000;

/** A mount with the key of its definition. */
interface Served extends SearchedMount {
  readonly key: string;
}

export function createIndexThreads(options: IndexThreadsOptions): IndexThreads {
  const { folder, runtime, embeddings, once = false } = options;
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const changes = createMountChanges({ runtime, tell: tellChanges });
  const answering = new Map<number, AbortController>();
  // A single command will certainly search; a server may never.
  const questions = createSearcherClient({ folder, embeddings }, runtime, {
    isEager: once,
    damaged: () => tell({ check: "damaged" }),
  });
  let served: readonly Served[] = [];
  let role: Role = "starting";
  let status: IndexStatus | undefined;
  /** Why there is no index, if found here: the indexer thread failed, or another file is in its place. */
  let ownProblem: IndexProblem | undefined;
  let restartMs = firstRestartMs;
  let startedMs = 0;
  /** The thread that had nothing to index, and when it has ended. */
  let resting: { readonly worker: Worker; readonly gone: Promise<void> } | undefined;
  let stopIndexer: SharedArrayBuffer;
  let indexer = startIndexer();

  function startIndexer(): Worker {
    stopIndexer = new SharedArrayBuffer(4);
    startedMs = monotonicMs();
    changes.renumber();
    const data: IndexerData = {
      folder,
      stop: stopIndexer,
      project: options.project,
      cacheFolder: options.cacheFolder,
      embeddings,
      maxFileBytes: options.maxFileBytes,
      maxBytes: options.maxBytes,
      maxFiles: options.maxFiles ?? Infinity,
      once,
      leaseMs: options.leaseMs,
      everyMs: options.everyMs,
    };
    const worker = startThread(new URL("./indexer-thread.ts", import.meta.url), {
      name: "pressmark-indexer",
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 },
    });
    worker.on("message", (message: FromIndexer) => void hearIndexer(message));
    worker.on("error", (cause) => {
      runtime.log("error", "the indexer thread failed", { cause });
      ownProblem = { reason: "failed", message: "the search index is currently unavailable; it is retried" };
    });
    worker.once("exit", () => {
      if (worker !== resting?.worker) void restart();
    });
    return worker;
  }

  async function restart(): Promise<void> {
    changes.unfollow();
    if (closing.signal.aborted) return;
    role = "starting";
    for (const listener of listeners) listener();
    if (monotonicMs() - startedMs >= steadyMs) restartMs = firstRestartMs;
    const delayMs = restartMs;
    restartMs = Math.min(restartMs * 2, longestRestartMs);
    await runtime.wait(delayMs, closing.signal).catch(() => undefined);
    if (closing.signal.aborted) return;
    indexer = startIndexer();
    tellMounts();
  }

  /** Whether all mounts are too large: then nothing happens until the mounts change. */
  function hasNothing(): boolean {
    return served.length > 0 && served.every(({ name }) => isLarge(name));
  }

  function isLarge(mount: string): boolean {
    return statusOf(mount)?.state === "large";
  }

  async function wake(): Promise<void> {
    const rested = resting;
    role = "starting";
    await rested?.gone;
    // Two calls start it only once.
    if (closing.signal.aborted || resting !== rested) return;
    resting = undefined;
    indexer = startIndexer();
    tellMounts();
  }

  function tell(message: ToIndexer): void {
    if (!closing.signal.aborted || "close" in message) indexer.postMessage(message, []);
  }

  async function hearIndexer(message: FromIndexer): Promise<void> {
    if ("log" in message) return runtime.log(...message.log);
    if ("follow" in message) return followMount(message.follow);
    if ("ask" in message) return answer(message.ask);
    if ("cancel" in message) return answering.get(message.cancel)?.abort();
    hearStatus(message.role, message.status);
    if (role !== "writer") changes.unfollow();
    if (role === "writer" && !once && hasNothing())
      resting ??= { worker: indexer, gone: threadEnded(indexer).then(releaseMemory) };
  }

  function hearStatus(nextRole: Role, next: IndexStatus | undefined): void {
    role = nextRole;
    status = next;
    ownProblem = undefined;
    for (const listener of listeners) listener();
  }

  /** Records changes before the thread has processed them, so that the status includes them. */
  function tellChanges(mount: string, some: readonly SourceChange[], upTo: number): void {
    tell({ mount, changes: some, upTo });
    for (const listener of listeners) listener();
  }

  function sayForced(): void {
    runtime.log("warn", "the indexer thread had to be terminated");
  }

  async function followMount(name: string): Promise<void> {
    const mount = served.find((each) => each.name === name);
    if (!mount || closing.signal.aborted) return;
    if (await changes.follow(mount)) tell({ armed: name });
  }

  async function answer({ id, mount: name, operation, asked }: SourceRequest): Promise<void> {
    const stop = new AbortController();
    const call: Call = { caller: { id: "pressmark" }, signal: stop.signal };
    answering.set(id, stop);
    try {
      const source = served.find((each) => each.name === name)?.source;
      // The thread requests only operations and mounts that it was given.
      const ask = source?.[operation] as ((asked: unknown, call: Call) => Promise<unknown>) | undefined;
      if (!ask) throw new ResourceError("cancelled", "the mount is no longer served");
      tell({ answer: { id, answer: await ask.call(source, asked, call) } });
    } catch (cause) {
      tell({ answer: { id, failure: toThreadError(cause) } });
    } finally {
      answering.delete(id);
    }
  }

  function tellMounts(): void {
    const mounts: ThreadMount[] = served.map(
      ({ name, key, source, definition, options: given, redact = false, onMainThread }) => ({
        name,
        key,
        isWatched: !once && source.watch !== undefined,
        hasStat: source.stat !== undefined,
        hasOrder: source.order !== undefined,
        ...(!onMainThread &&
          isOpenable(definition, given) && { opened: { source: definition.name, options: given, redact } }),
      }),
    );
    tell({ serve: mounts });
  }

  /** Includes changes not yet sent to the thread. Ignores status written by an earlier mount of the same name. */
  function statusOf(mount: string): MountStatus | undefined {
    const key = served.find(({ name }) => name === mount)?.key;
    const reported = status?.mounts.find((each) => each.name === mount && each.key === key);
    if (reported && ownProblem) return { ...reported, state: "unavailable", ready: 0, lastError: ownProblem.message };
    // Another process has its own numbers for changes.
    const waiting = reported && role === "writer" ? changes.waiting(mount, reported.heard ?? 0) : 0;
    if (!reported || waiting === 0) return reported;
    return {
      ...reported,
      state: reported.state === "complete" ? "indexing" : reported.state,
      pending: reported.pending + waiting,
      ready: Math.min(reported.ready, reported.total / (reported.total + waiting), 0.99),
    };
  }

  function problemOf(mount: string): string | undefined {
    if (!served.some(({ name }) => name === mount)) return undefined;
    if (ownProblem) return ownProblem.message;
    const { problem } = status ?? {};
    if (problem) return problem.message;
    const { state, lastError } = statusOf(mount) ?? {};
    if (state === "partial") return "some resources could not be read for the search index; they are retried";
    return state !== undefined && endedStates.has(state) ? lastError : undefined;
  }

  return {
    get role() {
      return role;
    },
    get status() {
      if (!status && !ownProblem) return undefined;
      const { file: _file, ...shown } = status ?? { bytes: 0 };
      return {
        ...shown,
        ...(ownProblem && { problem: ownProblem }),
        mounts: served.flatMap(({ name }) => toShown(statusOf(name))),
      };
    },

    serve(mounts) {
      served = mounts.map((mount) => ({ ...mount, key: keyOf(mount, options) }));
      if (!resting) tellMounts();
      else if (!hasNothing()) void wake();
      changes.refollow(served);
    },

    ready(mount) {
      if (!served.some(({ name }) => name === mount) || isLarge(mount)) return undefined;
      return role === "starting" ? 0 : (statusOf(mount)?.ready ?? 0);
    },

    problem: problemOf,

    async search({ mounts, ...ask }, signal) {
      const searched = served.filter(({ name }) => mounts === undefined || mounts.includes(name));
      const question = { ...ask, mounts: searched.map(({ name, key }) => ({ name, key })) };
      const isReader = role === "reader";
      const before = status?.file;
      const found = await questions.search(question, signal, isReader);
      // The status of another process's index is the one that came with the result.
      if (isReader && role === "reader") hearStatus(role, found.status);
      // If no process maintains it any more, this one may.
      if (isReader && !found.status) tell({ check: "missing" });
      if (before === undefined || before !== status?.file || before === found.file) return found.hits;
      tell({ check: "missing" });
      ownProblem = found.problem ?? toIndexProblem(new IndexLostError("replaced"));
      throw new ResourceError("unavailable", ownProblem.message);
    },

    follow(listener, signal) {
      if (signal.aborted) return;
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },

    caughtUp({ signal, progress }, { vectors = false } = {}) {
      return new Promise((resolve, reject) => {
        const over = new AbortController();
        const look = (): void => {
          const states = served.map(({ name }) => statusOf(name));
          const looked = states.reduce((sum, each) => sum + (each?.looked ?? 0), 0);
          const total = states.reduce((sum, each) => sum + (each?.total ?? 0), 0);
          if (role !== "starting") progress?.(looked, total);
          const isDone = states.every((each) => each && (each.ready === 1 || endedStates.has(each.state)));
          const isEmbedded = !vectors || status?.embeddings?.state !== "working";
          const isFailing = ownProblem !== undefined || status?.problem !== undefined;
          if (!isFailing && (role === "starting" || !isDone || !isEmbedded)) return;
          over.abort();
          resolve();
        };
        const stop = (): void => {
          over.abort();
          reject(new ResourceError("cancelled", "cancelled"));
        };
        const either = AbortSignal.any([signal, closing.signal]);
        either.addEventListener("abort", stop, { once: true, signal: over.signal });
        if (either.aborted) return stop();
        this.follow(look, over.signal);
        look();
      });
    },

    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      changes.unfollow();
      for (const stop of answering.values()) stop.abort();
      const stop = { stop: stopIndexer, forced: sayForced };
      await Promise.all([threadEnded(indexer, stop), questions.close()]);
    },
  };
}

/** Changes when a mount of the same name has other content. */
function keyOf({ definition, options, redact }: SearchedMount, { maxFileBytes }: IndexThreadsOptions): string {
  const made = JSON.stringify([
    crawlVersion,
    definition.name,
    options,
    maxFileBytes,
    ...(redact ? ["redacted", 2] : []),
  ]);
  return createHash("sha256").update(made).digest("base64url").slice(0, 22);
}

function toShown(mount: MountStatus | undefined): ShownMountStatus[] {
  if (!mount) return [];
  const { key: _key, heard: _heard, ...shown } = mount;
  return [shown];
}

/** Whether a thread can open the source by itself. */
function isOpenable({ name, openedOnce }: SourceDefinition, options: unknown): boolean {
  if (openedOnce || !Object.hasOwn(sources, name)) return false;
  try {
    structuredClone(options);
    return true;
  } catch {
    return false;
  }
}
