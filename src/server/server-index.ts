/** The search index of a server, started after serving has begun, because it takes time. */
import type { EventLoopUtilization } from "node:perf_hooks";
import type { SearchSettings } from "../config/schema.ts";
import { type IndexProblem, toIndexProblem } from "../search/index-problem.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Runtime } from "../source.ts";
import { indexLocation, type Project } from "./search/index-location.ts";
import type { IndexThreads, SearchedMount } from "./search/index-threads.ts";

export interface ServerIndexOptions {
  readonly cacheFolder: string;
  readonly project: Project;
  readonly runtime: Runtime;
  /** Whether to follow changes, or update once. */
  readonly live: boolean;
}

export interface ServerIndex extends SearchIndex {
  /** Sets the mounts to index, and the settings. */
  serve(mounts: readonly SearchedMount[], settings: SearchSettings): void;
  /** Folder of the index. */
  readonly place: string;
  /** Deletes the index; it is rebuilt when opened again. Throws "busy" while another process maintains it. */
  remove(): Promise<void>;
  /** Undefined if the config disables the index. */
  open(): Promise<IndexThreads | undefined>;
  /** The index, if it is open. */
  readonly threads: IndexThreads | undefined;
  /** Why it could not be started. It is retried. */
  readonly failure: IndexProblem | undefined;
  /** Calls back whenever the status changes. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

/** Delay before the index starts, unless someone searches earlier or the server is busy. */
const beginMs = 1000;
const latestBeginMs = 60_000;
const lookMs = 500;
const busyShare = 0.2;
const firstRetryMs = 1000;
const longestRetryMs = 60_000;
const defaults = { maxFileBytes: 2 * 1024 ** 2, maxBytes: 4 * 1024 ** 3, maxFiles: 250_000 };

export function createServerIndex({ cacheFolder, project, runtime, live }: ServerIndexOptions): ServerIndex {
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  let mounts: readonly SearchedMount[] = [];
  let settings: SearchSettings = {};
  let threads: IndexThreads | undefined;
  let opening: Promise<IndexThreads | undefined> | undefined;
  let ending: Promise<void> = Promise.resolve();
  let failure: IndexProblem | undefined;
  let retryMs = firstRetryMs;
  let timer = live ? setTimeout(beginInQuiet, beginMs).unref() : undefined;

  const place = () => indexLocation(cacheFolder, project);

  function open(): Promise<IndexThreads | undefined> {
    if (closing.signal.aborted || settings.enabled === false) return Promise.resolve(undefined);
    return (opening ??= ending.then(begin).catch((cause: unknown) => {
      failure = toIndexProblem(cause);
      runtime.log("error", failure.message, { cause });
      opening = undefined;
      if (!live || closing.signal.aborted) return undefined;
      clearTimeout(timer);
      timer = setTimeout(() => void open(), retryMs).unref();
      retryMs = Math.min(retryMs * 2, longestRetryMs);
      return undefined;
    }));
  }

  /** Waits while the server is busy: some hosts list everything at their start. */
  function beginInQuiet(waitedMs = beginMs, before?: EventLoopUtilization): void {
    const now = performance.eventLoopUtilization();
    const isQuiet = before && performance.eventLoopUtilization(now, before).utilization <= busyShare;
    if (isQuiet || waitedMs >= latestBeginMs) return void open();
    timer = setTimeout(beginInQuiet, lookMs, waitedMs + lookMs, now).unref();
  }

  async function begin(): Promise<IndexThreads | undefined> {
    const { createIndexThreads } = await import("./search/index-threads.ts");
    if (closing.signal.aborted) return undefined;
    const { maxFileBytes, maxBytes, maxFiles } = defaults;
    threads = createIndexThreads({
      folder: place(),
      project,
      ...(live && { cacheFolder }),
      runtime,
      maxFileBytes: settings.maxFileBytes ?? maxFileBytes,
      maxBytes: settings.maxBytes ?? maxBytes,
      maxFiles: settings.maxFiles ?? maxFiles,
      embeddings: settings.embeddings,
      once: !live,
    });
    threads.follow(() => {
      for (const hear of listeners) hear();
    }, closing.signal);
    threads.serve(mounts);
    failure = undefined;
    retryMs = firstRetryMs;
    return threads;
  }

  /** Opening again waits until it is closed. */
  function end(): Promise<void> {
    const opened = opening;
    opening = undefined;
    return (ending = ending.then(async () => {
      await opened;
      const before = threads;
      threads = undefined;
      await before?.close();
    }));
  }

  return {
    open,
    get place() {
      return place();
    },

    async remove() {
      const { removeIndex } = await import("./search/unused-indexes.ts");
      await end();
      removeIndex(place());
    },

    get threads() {
      return threads;
    },

    get failure() {
      return failure;
    },

    serve(nextMounts, next) {
      const isOther = JSON.stringify(next) !== JSON.stringify(settings);
      mounts = nextMounts;
      settings = next;
      if (!isOther) threads?.serve(mounts);
      // Settings are applied when the index starts.
      else if (opening) void end().then(open);
    },

    ready(mount) {
      if (settings.enabled === false || !mounts.some(({ name }) => name === mount)) return undefined;
      return threads?.ready(mount) ?? 0;
    },

    problem(mount) {
      if (settings.enabled === false || !mounts.some(({ name }) => name === mount)) return undefined;
      return failure?.message ?? threads?.problem(mount);
    },

    async search(ask, signal) {
      return (await (await open())?.search(ask, signal)) ?? [];
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      listeners.add(hear);
      signal.addEventListener("abort", () => listeners.delete(hear), { once: true });
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await end();
    },
  };
}
