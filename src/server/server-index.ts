/** The search index of a server: starts, replaces and closes its threads, searches, and knows what is indexed. */
import type { EventLoopUtilization } from "node:perf_hooks";
import type { SearchSettings } from "../config/schema.ts";
import { ResourceError } from "../errors.ts";
import { costAccount, runCharged } from "../lib/cost-account.ts";
import { inSpan } from "../lib/request-scope.ts";
import type { Call } from "../resources.ts";
import { IndexLostError, type IndexProblem, toIndexProblem } from "../search/index-problem.ts";
import { withWaiting } from "../search/mount-status.ts";
import type { SearchIndex, Viewer } from "../search/search-index.ts";
import type { SearchFindings, ViewerGroup } from "../search/searcher.ts";
import type { IndexStatus, MountStatus, Role } from "../search/status.ts";
import type { MountAnnotations } from "../layers/annotate.ts";
import type { Runtime, Source, SourceDefinition } from "../source.ts";
import type { SharedState } from "../state/shared-state.ts";
import { isWatchShared } from "../watch/is-watch-shared.ts";
import { indexLocation, type Project } from "./search/index-location.ts";
import type { IndexerClient, KeyedMount } from "./search/indexer-client.ts";
import type { SearcherClient } from "./search/searcher-client.ts";

/** A mount to index. */
export interface SearchedMount {
  readonly name: string;
  /** With its layers. */
  readonly source: Source;
  readonly definition: SourceDefinition;
  readonly options: unknown;
  /** Whether secrets are masked, also in the index. */
  readonly redact?: boolean;
  /** Annotations of entries that have none of their own. */
  readonly annotations?: MountAnnotations;
  /** Whether only the main thread may open the source, because it checks each opening. */
  readonly onMainThread?: boolean;
}

interface ServerIndexOptions {
  readonly cacheFolder: string;
  readonly project: Project;
  readonly runtime: Runtime;
  /** Whether to follow changes, or update once. */
  readonly live: boolean;
  /** How often a process that does not write the index tries to become its writer. */
  readonly leaseMs?: number;
  /** The index that instances share, instead of one in the cache folder. For a live server. */
  readonly shared?: { readonly state: SharedState; readonly url: string } | undefined;
}

/** Status of the mounts that are indexed here. */
export interface ShownStatus extends Omit<IndexStatus, "mounts" | "file" | "isSinglePass"> {
  readonly mounts: readonly Omit<MountStatus, "key" | "heard" | "numbering" | "unsent">[];
}

export interface ServerIndex extends SearchIndex {
  /** Sets the mounts to index, and the settings. What is indexed of the mounts named in `leftOut` stays stored, and is not found. */
  serve(mounts: readonly SearchedMount[], settings: SearchSettings, leftOut?: readonly string[]): void;
  /** Folder of the index. */
  readonly place: string;
  /** Deletes the index; it is rebuilt when opened again. Throws "busy" while another process maintains it. */
  remove(): Promise<void>;
  readonly role: Role;
  /** Undefined until known. */
  readonly status: ShownStatus | undefined;
  /** Calls back whenever the status changes, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
  /**
   * Starts the index if nobody has, and resolves when every mount is indexed or failed, or there is no index; with `vectors`, also
   * when all embeddings are done.
   */
  caughtUp(call: Pick<Call, "signal" | "progress">, more?: CaughtUpOptions): Promise<void>;
  /** For a single command, before anything else: searches the index as it is. Returns its age, unless another process updates it. */
  useAsIs(): Promise<number | undefined>;
  /** Stops everything and releases all resources. */
  close(): Promise<void>;
}

interface CaughtUpOptions {
  readonly vectors?: boolean;
  /** Default: all. */
  readonly mounts?: readonly string[];
}

/** How long searches wait for the first pass, counted from the first search. */
const firstPassMs = 1000;
/** More entries than this are not indexed within that time. */
const maxAwaited = 2000;
/** Delay before the index starts, unless someone searches earlier or the server is busy. */
const beginMs = 1000;
const latestBeginMs = 60_000;
const lookMs = 500;
const busyShare = 0.2;
const firstRetryMs = 1000;
const longestRetryMs = 60_000;
const defaultFileBytes = 2 * 1024 ** 2;
const defaultBytes = 4 * 1024 ** 3;
const defaultFiles = 2_000_000;
/** Increase it when the indexed form of a text changes, to rebuild everything. */
const crawlVersion = 1;
/** States in which nothing more will happen. */
const endedStates: ReadonlySet<MountStatus["state"]> = new Set(["partial", "failing", "full", "large", "unavailable"]);

/** A process that makes a single pass ends soon, and this one makes its own. */
const otherSettings = "another Pressmark process keeps this index with other settings; stop or restart it";
const unindexed = { documents: 0, passages: 0, looked: 0, total: 0, pending: 0, unread: 0, ready: 0 };

interface Threads {
  readonly indexer: IndexerClient;
  readonly searcher: SearcherClient;
}

export function createServerIndex({
  cacheFolder,
  project,
  runtime,
  live,
  leaseMs,
  shared,
}: ServerIndexOptions): ServerIndex {
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  let mounts: readonly SearchedMount[] = [];
  let leftOut: readonly string[] = [];
  let settings: SearchSettings = {};
  /** The mounts as the threads know them; empty until they are started. */
  let served: readonly KeyedMount[] = [];
  let threads: Threads | undefined;
  let opening: Promise<Threads | undefined> | undefined;
  let ending: Promise<void> = Promise.resolve();
  let role: Role = "starting";
  let status: IndexStatus | undefined;
  /** Why there is no index, if found here: a thread failed, or another file is in its place. It is retried. */
  let ownProblem: IndexProblem | undefined;
  let isAsIs = false;
  let retryMs = firstRetryMs;
  /** Until when searches wait for the first pass; undefined before the first search. */
  let awaitedUntilMs: number | undefined;
  let timer = live ? setTimeout(beginInQuiet, beginMs).unref() : undefined;

  const place = () => indexLocation(cacheFolder, project);

  function open(): Promise<Threads | undefined> {
    if (closing.signal.aborted || settings.enabled === false) return Promise.resolve(undefined);
    // Not on the account of the search that needs it.
    return (opening ??= runCharged(undefined, () => ending.then(start)).catch((cause: unknown) => {
      ownProblem = toIndexProblem(cause);
      runtime.log("error", ownProblem.message, { cause });
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

  async function start(): Promise<Threads | undefined> {
    // Loaded on demand, to keep the start fast.
    const { createIndexer, createSearcher } = await (shared
      ? loadShared(shared.state)
      : live
        ? loadThreads()
        : loadInline(isAsIs));
    if (closing.signal.aborted) return undefined;
    const { embeddings, maxFileBytes = defaultFileBytes, maxBytes = defaultBytes, maxFiles = defaultFiles } = settings;
    const location = { folder: place(), embeddings };
    // Who waits for the first pass will certainly search; others may never.
    const searcher = createSearcher(location, runtime, { isEager: awaitedUntilMs !== undefined });
    served = keyed();
    ownProblem = undefined;
    retryMs = firstRetryMs;
    const limits = {
      maxFileBytes,
      maxBytes,
      maxFiles,
      once: !live,
      leaseMs,
      shared: shared && { url: shared.url, instance: shared.state.instance },
    };
    const indexer = createIndexer(
      { ...location, project, cacheFolder: live ? cacheFolder : undefined, ...limits },
      served,
      leftOut,
      {
        runtime,
        hear,
        restarting(problem) {
          role = "starting";
          ownProblem = problem ?? ownProblem;
          announce();
        },
        changed: announce,
        isCutOff: ({ source }) => shared?.state.bus.status.isConnected === false && isWatchShared(source),
      },
    );
    return (threads = { indexer, searcher });
  }

  /** Opening again waits until it is closed. */
  function end(): Promise<void> {
    const opened = opening;
    opening = undefined;
    return (ending = ending.then(async () => {
      await opened;
      const before = threads;
      threads = status = undefined;
      served = [];
      role = "starting";
      if (!closing.signal.aborted) announce();
      await Promise.all([before?.indexer.close(), before?.searcher.close()]);
    }));
  }

  function keyed(): KeyedMount[] {
    const { maxFileBytes = defaultFileBytes } = settings;
    return mounts.map((mount) => ({ ...mount, key: keyOf(mount, maxFileBytes) }));
  }

  function announce(): void {
    for (const hearer of listeners) hearer();
  }

  function hear(nextRole: Role, next: IndexStatus | undefined): void {
    role = nextRole;
    status = next;
    ownProblem = undefined;
    announce();
  }

  function follow(hearer: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    listeners.add(hearer);
    signal.addEventListener("abort", () => listeners.delete(hearer), { once: true });
  }

  function isSearched(mount: string): boolean {
    return settings.enabled !== false && mounts.some(({ name }) => name === mount);
  }

  /** Includes changes not yet sent to the thread. Ignores status written by an earlier mount of the same name. */
  function statusOf(mount: string): MountStatus | undefined {
    const key = served.find(({ name }) => name === mount)?.key;
    const reported = status?.mounts.find((each) => each.name === mount && each.key === key);
    if (!reported && key !== undefined && role === "reader" && status && !status.isSinglePass)
      return { ...unindexed, name: mount, key, state: "unavailable", lastError: otherSettings };
    if (reported && ownProblem) return { ...reported, state: "unavailable", ready: 0, lastError: ownProblem.message };
    // Another process that writes an index of its own has its own numbers for changes.
    const isKnown = role === "writer" || shared !== undefined;
    return reported && withWaiting(reported, (isKnown && threads?.indexer.waiting(reported)) || 0);
  }

  async function caughtUp(
    { signal, progress }: Pick<Call, "signal" | "progress">,
    { vectors = false, mounts: names }: CaughtUpOptions = {},
  ): Promise<void> {
    const isOpen = (await open()) !== undefined;
    const over = new AbortController();
    const done = Promise.withResolvers<void>();
    const look = (): void => {
      const awaited = served.filter(({ name }) => names?.includes(name) ?? true);
      const states = awaited.map(({ name }) => statusOf(name));
      const looked = states.reduce((sum, each) => sum + (each?.looked ?? 0), 0);
      const total = states.reduce((sum, each) => sum + (each?.total ?? 0), 0);
      if (role !== "starting") progress?.(looked, total);
      const isDone = states.every((each) => each && (each.ready === 1 || endedStates.has(each.state)));
      const isEmbedded = !vectors || status?.embeddings?.state !== "working";
      const isFailing = ownProblem !== undefined || status?.problem !== undefined;
      if (!isOpen || isFailing || (role !== "starting" && isDone && isEmbedded)) done.resolve();
    };
    const stop = (): void => done.reject(new ResourceError("cancelled", "cancelled"));
    const either = AbortSignal.any([signal, closing.signal]);
    either.addEventListener("abort", stop, { once: true, signal: over.signal });
    follow(look, over.signal);
    if (either.aborted) stop();
    else look();
    await done.promise.finally(() => over.abort());
  }

  return {
    get place() {
      return place();
    },

    async remove() {
      const { removeIndex } = await import("./search/unused-indexes.ts");
      await end();
      removeIndex(place());
    },

    get role() {
      return role;
    },

    get status() {
      if (!status && !ownProblem) return undefined;
      const { file: _file, isSinglePass: _isSinglePass, ...shown } = (status ?? { bytes: 0 }) as IndexStatus;
      return {
        ...shown,
        problem: ownProblem ?? status?.problem,
        mounts: served.flatMap(({ name }) => shownOf(statusOf(name))),
      };
    },

    serve(nextMounts, next, nextLeftOut = []) {
      const isOther = JSON.stringify(next) !== JSON.stringify(settings);
      mounts = nextMounts;
      leftOut = nextLeftOut;
      settings = next;
      awaitedUntilMs = undefined;
      if (!isOther) threads?.indexer.serve((served = keyed()), leftOut);
      // Settings are applied when the threads start.
      else if (opening) void end().then(open);
    },

    ready(mount) {
      if (!isSearched(mount)) return undefined;
      const known = role === "starting" ? undefined : statusOf(mount);
      return known && known.state !== "large" ? known.ready : 0;
    },

    hasJustRead: (mount) => !live && role === "writer" && statusOf(mount)?.ready === 1,

    problem(mount) {
      if (!isSearched(mount)) return undefined;
      const problem = ownProblem ?? status?.problem;
      if (problem) return problem.message;
      const { state, lastError } = statusOf(mount) ?? {};
      if (state === "partial") return "some resources could not be read for the search index; they are retried";
      return state !== undefined && endedStates.has(state) ? lastError : undefined;
    },

    async search({ mounts: names, viewer, isRepeated = false, ...query }, signal) {
      const account = isRepeated ? undefined : costAccount();
      const opened = await open();
      if (!opened) return [];
      const searched = served.filter(({ name }) => names === undefined || names.includes(name));
      const isReader = role === "reader";
      const before = status?.file;
      const question = { ...query, mounts: searched.map(({ name, key }) => ({ name, key })), withStatus: isReader };
      const found = await inSpan("search index", {}, () =>
        searchAs(viewer, (viewers) => opened.searcher.search({ ...question, viewers }, signal)),
      );
      account?.charge("indexRows", found.rows ?? 0);
      const reason = found.problem?.reason;
      if (reason === "damaged" || reason === "replaced") {
        opened.indexer.check("damaged");
        throw new ResourceError("unavailable", found.problem!.message);
      }
      // The status of another process's index is the one that came with the result.
      if (isReader && role === "reader") hear(role, found.status);
      // If no process maintains it any more, this one may.
      if (isReader && !found.status) opened.indexer.check("missing");
      if (before === undefined || before !== status?.file || before === found.file) return found.hits;
      opened.indexer.check("missing");
      ownProblem = found.problem ?? toIndexProblem(new IndexLostError("replaced"));
      throw new ResourceError("unavailable", ownProblem.message);
    },

    follow,

    caughtUp,

    async useAsIs() {
      isAsIs = true;
      await open();
      return status?.ageMs;
    },

    async awaitFirstPass(names, signal) {
      // A single command waits by itself, for as long as it takes.
      if (!live) return;
      const nowMs = runtime.monotonicMs();
      awaitedUntilMs ??= nowMs + firstPassMs;
      if (nowMs >= awaitedUntilMs) return;
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const progress = (looked: number, total = 0) => {
        // The status of another process's index is known only after a search.
        if (role === "reader" || total - looked > maxAwaited) over.abort();
      };
      const passed = caughtUp({ signal: either, progress }, { mounts: names });
      await Promise.race([passed, runtime.wait(awaitedUntilMs - nowMs, either)]).catch(() => undefined);
      over.abort();
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await end();
    },
  };
}

async function loadThreads() {
  const [{ createIndexerClient }, { createSearcherClient }] = await Promise.all([
    import("./search/indexer-client.ts"),
    import("./search/searcher-client.ts"),
  ]);
  return { createIndexer: createIndexerClient, createSearcher: createSearcherClient };
}

async function loadShared(state: SharedState) {
  const [{ createIndexerClient }, { createSharedSearcherClient }] = await Promise.all([
    import("./search/indexer-client.ts"),
    import("./search/shared-searcher-client.ts"),
  ]);
  return { createIndexer: createIndexerClient, createSearcher: () => createSharedSearcherClient(state) };
}

/** For a single command. */
async function loadInline(isAsIs: boolean) {
  const inline = await import("./search/inline-index.ts");
  const createIndexer = isAsIs ? inline.createIdleIndexer : inline.createInlineIndexer;
  return { createIndexer, createSearcher: inline.createInlineSearcher };
}

/** Decides about documents that were added since these callers searched last. */
async function searchAs(
  viewer: Viewer | undefined,
  search: (viewers: ViewerGroup | undefined) => Promise<SearchFindings>,
): Promise<SearchFindings> {
  if (!viewer) return search(undefined);
  let found = await search({ key: viewer.key });
  while (found.undecided) {
    const { documents, ...asked } = found.undecided;
    const visible: number[] = [];
    const postponed: number[] = [];
    for (const document of documents) {
      const isVisible = viewer.maySee(document);
      if (isVisible === undefined) postponed.push(document.id);
      else if (isVisible) visible.push(document.id);
    }
    const last = Math.max(asked.after, documents.at(-1)!.id);
    found = await search({ key: viewer.key, decided: { ...asked, last, visible, postponed } });
  }
  return found;
}

/** Changes when a mount of the same name has other content. */
function keyOf({ definition, options, redact, annotations = {} }: SearchedMount, maxFileBytes: number): string {
  // Loaded on demand, to keep the start fast.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const made = [crawlVersion, definition.name, options, maxFileBytes, ...(redact ? ["redacted", 2] : [])];
  const { priority, audience } = annotations;
  // The number stands for how they are applied: increase it when that changes.
  if (priority !== undefined || audience) made.push({ priority, audience }, 2);
  return createHash("sha256").update(JSON.stringify(made)).digest("base64url").slice(0, 22);
}

function shownOf(mount: MountStatus | undefined): ShownStatus["mounts"] {
  if (!mount) return [];
  const { key: _key, heard: _heard, numbering: _numbering, unsent: _unsent, ...shown } = mount;
  return [shown];
}
