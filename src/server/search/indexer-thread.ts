/** The indexer thread: lists, reads, splits and writes, so that the main thread does not. */
import { parentPort, workerData } from "node:worker_threads";
import { releaseMemoryWhenIdle } from "../../lib/v8-memory.ts";
import { stack } from "../../layer.ts";
import { annotateLayers } from "../../layers/annotate.ts";
import { indexLayers } from "../../layers/standard.ts";
import { type Call, serverCaller } from "../../resources.ts";
import type { HeardChange } from "../../search/crawl.ts";
import { createIndexer } from "../../search/indexer.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { Source, SourceChange, SourceDefinition } from "../../source.ts";
import { sources } from "../../sources/index.ts";
import { mountRuntime } from "../mount-runtime.ts";
import { markUsed, sweep } from "./unused-indexes.ts";
import type {
  FromIndexer,
  IndexerData,
  SharedIndexLocation,
  SourceRequest,
  ThreadMount,
  ToIndexer,
} from "./messages.ts";
import { createRemoteCaller } from "./remote-call.ts";
import { openEmbeddings, threadRuntime } from "./thread.ts";

const { project, cacheFolder, embeddings, stop, shared, ...limits } = workerData as IndexerData;
const stopped = new Int32Array(stop);
const runtime = threadRuntime(post);
const mounts = new Map<string, ThreadMount>();
const arming = new Map<string, () => void>();
/** What this thread has opened itself: only the watch of the main thread tells these sources what has changed. */
const ownSources = new Map<string, Source>();
/** By mount: ends when the earlier changes are noted. */
const noting = new Map<string, Promise<void>>();
const mainThread = createRemoteCaller<SourceRequest, unknown>(post);
let isSwept = false;

const indexer = shared ? await openShared(shared) : openEmbedded();

releaseMemoryWhenIdle();

parentPort!.on("message", (message: ToIndexer) => {
  if ("serve" in message) {
    mounts.clear();
    for (const mount of message.serve) mounts.set(mount.name, mount);
    indexer.serve(message.serve, message.leftOut);
  } else if ("changes" in message) {
    const { mount, changes, upTo } = message;
    afterNoting(mount, changes, () => indexer.hear(mount, changes, upTo));
  } else if ("unsentOf" in message) {
    if ("setUnsent" in indexer) indexer.setUnsent(message.unsentOf, message.count);
  } else if ("check" in message) indexer.check?.(message.check === "damaged" ? "damaged" : undefined);
  else if ("armed" in message) afterNoting(message.armed, [{ kind: "lost" }], () => arming.get(message.armed)?.());
  else if ("reply" in message) mainThread.hear(message);
  else void indexer.close().then(() => parentPort!.close());
});

function openEmbedded() {
  return createIndexer({
    ...limits,
    openStore,
    runtime,
    embeddings: openEmbeddings(embeddings, runtime),
    open,
    follow,
    tell: (role, status) => post({ role, status }),
    isStopped: () => Atomics.load(stopped, 0) !== 0,
    prepare() {
      markUsed(limits.folder, project);
      if (cacheFolder === undefined || isSwept) return;
      isSwept = true;
      try {
        sweep(cacheFolder, Date.now());
      } catch (cause) {
        runtime.log("info", "unused search indexes could not be removed", { cause });
      }
    },
  });
}

async function openShared(location: SharedIndexLocation) {
  const { openSharedIndexer } = await import("./open-shared-indexer.ts");
  return openSharedIndexer(location, {
    ...limits,
    runtime,
    open,
    follow,
    // An instance may write some mounts and not others: all read the status that the writers publish.
    tell: (status) => post({ role: "reader", status }),
  });
}

function follow(mount: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    arming.set(mount, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    post({ follow: mount });
  });
}

/** Tells the source of this thread first, and in order: the indexer reads what has changed. */
function afterNoting(mount: string, changes: readonly HeardChange[], next: () => void): void {
  const source = ownSources.get(mount);
  if (!source?.noteChanges) return next();
  const reported = changes.filter((change): change is SourceChange => change.kind !== "unwatched");
  const { signal } = new AbortController();
  const noted = (noting.get(mount) ?? Promise.resolve())
    .then(() => source.noteChanges?.(reported, { caller: serverCaller, signal }))
    .catch((cause: unknown) => runtime.log("warn", "a source could not note changes before indexing", { mount, cause }))
    .then(next);
  noting.set(mount, noted);
}

function post(message: FromIndexer): void {
  parentPort!.postMessage(message, []);
}

/** Opens the source in this thread if possible; otherwise uses the main thread's. */
async function open(name: string): Promise<Source> {
  ownSources.delete(name);
  const { opened, hasStat, hasOwnList, hasOrder, isUnordered } = mounts.get(name)!;
  if (opened && Object.hasOwn(sources, opened.source)) {
    const { default: definition } = await sources[opened.source as keyof typeof sources]();
    try {
      const redaction = opened.redact ? (await import("../redaction.ts")).createRedaction(runtime) : undefined;
      const ownRuntime = mountRuntime(redaction?.runtime ?? runtime, name);
      const sharedCache = "sharedCacheOf" in indexer ? indexer.sharedCacheOf(opened.source) : undefined;
      const source = await (definition as SourceDefinition).open(opened.options, { ...ownRuntime, sharedCache });
      const layers = indexLayers(runtime, { redact: redaction?.layer });
      const own = stack(source, { name }, [...annotateLayers(opened.annotations), ...layers]);
      ownSources.set(name, own);
      return own;
    } catch (cause) {
      runtime.log("info", "a source cannot be opened a second time, so the indexer reads it through the main thread", {
        mount: name,
        cause,
      });
    }
  }
  const ask =
    <Answer>(operation: SourceRequest["operation"]) =>
    (asked: unknown, { signal }: Call) =>
      mainThread.call({ mount: name, operation, asked }, signal) as Promise<Answer>;
  return {
    list: ask("list"),
    read: ask("read"),
    // Only the presence of an order matters here.
    ...(hasOrder && { order: () => 0 }),
    ...(isUnordered && { isUnordered }),
    ...(hasOwnList && { listIndexed: ask("listIndexed") }),
    ...(hasStat && { stat: ask("stat") }),
  };
}
