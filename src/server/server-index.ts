/** The index of a house, begun only when serving has: a thread, a database and a look at everything take their time. */
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
  /** Whether it goes on following changes, or is brought up to date once. */
  readonly live: boolean;
}

export interface ServerIndex extends SearchIndex {
  /** From here on these mounts are indexed, in the way the settings say. */
  serve(mounts: readonly SearchedMount[], settings: SearchSettings): void;
  /** The folder that it stands in. */
  readonly place: string;
  /** Takes away all of it; it is made anew when it is opened again. Throws "busy" while another process keeps it. */
  remove(): Promise<void>;
  /** Undefined where the config says that there is to be none. */
  open(): Promise<IndexThreads | undefined>;
  /** The index as far as it is open. */
  readonly kept: IndexThreads | undefined;
  /** Why it could not be begun. It is tried again. */
  readonly failure: IndexProblem | undefined;
  /** Hears whenever there is something new to say of it. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Afterwards nothing runs and nothing is held. */
  close(): Promise<void>;
}

/** So long after the house was opened the index is begun, unless someone searches before or the house is busy answering. */
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
  let kept: IndexThreads | undefined;
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

  /** Who lists everything at once, as some hosts do at their start, is answered first. */
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
    kept = createIndexThreads({
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
    kept.follow(() => {
      for (const hear of listeners) hear();
    }, closing.signal);
    kept.serve(mounts);
    failure = undefined;
    retryMs = firstRetryMs;
    return kept;
  }

  /** Who opens it again waits until it is closed. */
  function end(): Promise<void> {
    const opened = opening;
    opening = undefined;
    return (ending = ending.then(async () => {
      await opened;
      const before = kept;
      kept = undefined;
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

    get kept() {
      return kept;
    },

    get failure() {
      return failure;
    },

    serve(nextMounts, next) {
      const isOther = JSON.stringify(next) !== JSON.stringify(settings);
      mounts = nextMounts;
      settings = next;
      if (!isOther) kept?.serve(mounts);
      // What it is to be like is settled when it is begun.
      else if (opening) void end().then(open);
    },

    ready(mount) {
      if (settings.enabled === false || !mounts.some(({ name }) => name === mount)) return undefined;
      return kept?.ready(mount) ?? 0;
    },

    problem(mount) {
      if (settings.enabled === false || !mounts.some(({ name }) => name === mount)) return undefined;
      return failure?.message ?? kept?.problem(mount);
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
