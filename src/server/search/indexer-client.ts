/** The main thread's side of the indexer thread: restarts it if it fails, and gives it mounts, their changes and their contents. */
import { randomUUID } from "node:crypto";
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { releaseMemory } from "../../lib/v8-memory.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { type Call, serverCaller } from "../../resources.ts";
import type { IndexProblem } from "../../search/index-problem.ts";
import type { IndexStatus, MountStatus, Role } from "../../search/status.ts";
import type { SourceDefinition, Runtime } from "../../source.ts";
import { sources } from "../../sources/index.ts";
import type { SearchedMount } from "../server-index.ts";
import { createMountChanges } from "./mount-changes.ts";
import type { FromIndexer, IndexerData, SourceRequest, ThreadMount, ToIndexer } from "./messages.ts";
import { createRemoteAnswerer } from "./remote-call.ts";
import { threadEnded, startThread } from "./start-thread.ts";

/** A mount with the key of its definition. */
export interface KeyedMount extends SearchedMount {
  readonly key: string;
}

interface IndexerClientOptions {
  readonly runtime: Runtime;
  /** Called with each status that the thread reports. */
  hear(role: Role, status: IndexStatus | undefined): void;
  /** Called when the thread is about to start again, with the reason if it failed. */
  restarting(problem?: IndexProblem): void;
  /** Called when changes were sent to the thread. */
  changed(): void;
  /** Whether changes of a mount cannot be received at present, and are reported later. */
  isCutOff(mount: KeyedMount): boolean;
}

export interface IndexerClient {
  /** Sets the mounts to index, and the names of those whose documents stay stored. */
  serve(mounts: readonly KeyedMount[], leftOut: readonly string[]): void;
  /** Makes the thread check whether the index is intact. */
  check(found: "missing" | "damaged"): void;
  /** Number of changes of a mount that are known here and not in this status. At least 1 while none can be received. */
  waiting(status: MountStatus): number;
  /** Stops the thread. */
  close(): Promise<void>;
}

const firstRestartMs = 1000;
const longestRestartMs = 60_000;
/** A thread that ran this long is restarted without delay. */
const steadyMs = 60_000;

export function createIndexerClient(
  data: Omit<IndexerData, "stop">,
  mounts: readonly KeyedMount[],
  mountsLeftOut: readonly string[],
  { runtime, hear, restarting, changed, isCutOff }: IndexerClientOptions,
): IndexerClient {
  const closing = new AbortController();
  const changes = createMountChanges({
    runtime,
    tell(mount, some, upTo) {
      tell({ mount, changes: some, upTo });
      tellUnsent();
      changed();
    },
  });
  const answerer = createRemoteAnswerer<SourceRequest, unknown>(tell, readSource);
  /** By mount: what the thread was told last. */
  const toldUnsent = new Map<string, number>();
  let served = mounts;
  let leftOut = mountsLeftOut;
  let restartMs = firstRestartMs;
  let startedMs = 0;
  let stop: SharedArrayBuffer;
  let numbering: string;
  let thread: Worker | undefined;
  let status: IndexStatus | undefined;
  /** The thread that had nothing to index, and when it has ended. */
  let resting: { readonly worker: Worker; readonly gone: Promise<void> } | undefined;
  start();

  function start(): void {
    stop = new SharedArrayBuffer(4);
    startedMs = monotonicMs();
    changes.renumber();
    numbering = randomUUID();
    toldUnsent.clear();
    let problem: IndexProblem | undefined;
    const fail = (cause: unknown): void => {
      runtime.log("error", "the indexer thread failed", { cause });
      problem = { reason: "failed", message: "the search index is currently unavailable; it is retried" };
    };
    try {
      const worker = startThread(new URL("./indexer-thread.ts", import.meta.url), {
        name: "pressmark-indexer",
        workerData: { ...data, stop, shared: data.shared && { ...data.shared, numbering } } satisfies IndexerData,
        resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 },
      });
      worker.on("message", (message: FromIndexer) => void hearThread(message));
      worker.on("error", fail);
      worker.once("exit", () => {
        if (worker !== resting?.worker) void restart(problem);
      });
      thread = worker;
      tellMounts();
    } catch (cause) {
      fail(cause);
      void restart(problem);
    }
  }

  async function restart(problem: IndexProblem | undefined): Promise<void> {
    changes.unfollow();
    if (closing.signal.aborted) return;
    restarting(problem);
    if (monotonicMs() - startedMs >= steadyMs) restartMs = firstRestartMs;
    const delayMs = restartMs;
    restartMs = Math.min(restartMs * 2, longestRestartMs);
    await runtime.wait(delayMs, closing.signal).catch(() => undefined);
    if (!closing.signal.aborted) start();
  }

  async function wake(): Promise<void> {
    const rested = resting;
    restarting();
    await rested?.gone;
    // Two calls start it only once.
    if (closing.signal.aborted || resting !== rested) return;
    resting = undefined;
    start();
  }

  /** Whether all mounts are too large: then nothing happens until the mounts change. */
  function hasNothing(): boolean {
    return (
      served.length > 0 &&
      served.every(({ name, key }) =>
        status?.mounts.some((each) => each.name === name && each.key === key && each.state === "large"),
      )
    );
  }

  function tell(message: ToIndexer): void {
    if (!closing.signal.aborted) thread?.postMessage(message, []);
  }

  async function hearThread(message: FromIndexer): Promise<void> {
    if ("log" in message) return runtime.log(...message.log);
    if ("call" in message || "cancel" in message) return answerer.hear(message);
    if ("follow" in message) {
      const mount = served.find(({ name }) => name === message.follow);
      if (mount && !closing.signal.aborted && (await changes.follow(mount))) tell({ armed: mount.name });
      return;
    }
    const { role } = message;
    ({ status } = message);
    tellUnsent();
    hear(role, status);
    // A shared index has a writer for each mount.
    if (role !== "writer" && !data.shared) changes.unfollow();
    else if (!data.once && !data.shared && hasNothing())
      resting ??= { worker: thread!, gone: threadEnded(thread!).then(releaseMemory) };
  }

  async function readSource({ mount, operation, asked }: SourceRequest, signal: AbortSignal): Promise<unknown> {
    const source = served.find(({ name }) => name === mount)?.source;
    // The thread requests only operations and mounts that it was given.
    const ask = source?.[operation] as ((asked: unknown, call: Call) => Promise<unknown>) | undefined;
    if (!ask) throw new ResourceError("cancelled", "the mount is no longer served");
    return ask.call(source, asked, { caller: serverCaller, signal });
  }

  function unsent(mount: KeyedMount): number {
    return Math.max(changes.unsent(mount.name), isCutOff(mount) ? 1 : 0);
  }

  /** The other instances learn of it from the status that the thread publishes. The thread of a shared index reports twice a second. */
  function tellUnsent(): void {
    if (!data.shared) return;
    for (const mount of served) {
      const count = unsent(mount);
      if (count === (toldUnsent.get(mount.name) ?? 0)) continue;
      toldUnsent.set(mount.name, count);
      tell({ unsentOf: mount.name, count });
    }
  }

  function waiting({ name, ...reported }: MountStatus): number {
    const mount = served.find((each) => each.name === name);
    if (!mount) return 0;
    if (!data.shared) return changes.sentAfter(name, reported.heard ?? 0) + unsent(mount);
    // Another instance may have published it, which counts the same changes with its own numbers.
    const sent = reported.numbering === numbering ? changes.sentAfter(name, reported.heard ?? 0) : 0;
    return sent + Math.max(0, unsent(mount) - (reported.unsent ?? 0));
  }

  function tellMounts(): void {
    tell({
      serve: served.map(
        ({ name, key, source, definition, options, redact = false, annotations = {}, onMainThread }): ThreadMount => {
          const isOpened = !onMainThread && isOpenable(definition, options);
          return {
            name,
            key,
            isWatched: !data.once && source.watch !== undefined,
            hasStat: source.stat !== undefined,
            hasOwnList: source.listIndexed !== undefined,
            hasOrder: source.order !== undefined,
            isUnordered: source.isUnordered === true,
            opened: isOpened ? { source: definition.name, options, redact, annotations } : undefined,
          };
        },
      ),
      leftOut,
    });
  }

  return {
    serve(next, nextLeftOut) {
      served = next;
      leftOut = nextLeftOut;
      if (!resting) tellMounts();
      else if (!hasNothing()) void wake();
      changes.refollow(served);
    },

    check: (found) => tell({ check: found }),

    waiting,

    async close() {
      closing.abort();
      changes.unfollow();
      answerer.cancelAll();
      if (!thread) return;
      await threadEnded(thread, {
        stop,
        forced: () => runtime.log("warn", "the indexer thread had to be terminated"),
      });
    },
  };
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
