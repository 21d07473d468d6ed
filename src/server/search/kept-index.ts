/** The house's side of its index: starts the threads, tells them what changes, and asks them. */
import { createHash } from "node:crypto";
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import { giveBack } from "../../lib/give-back.ts";
import type { Call } from "../../resources.ts";
import type { HeardChange } from "../../search/crawl.ts";
import type { EmbeddingOptions } from "../../search/embeddings.ts";
import type { IndexStatus, MountStatus, Role } from "../../search/status.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import type { Source, SourceChange, SourceDefinition, Tools } from "../../source.ts";
import { sources } from "../../sources/index.ts";
import { createWatchers } from "../../watch/watchers.ts";
import type { FromIndexer, IndexerData, SourceAsk, ThreadMount, ToIndexer } from "./messages.ts";
import { createQuestions } from "./questions.ts";
import { ended, startThread } from "./start-thread.ts";
import { toFailure } from "./thread.ts";

/** A mount that is to be indexed. */
export interface SearchedMount {
  readonly name: string;
  /** As the house asks it. */
  readonly source: Source;
  readonly definition: SourceDefinition;
  readonly options: unknown;
  /** Whether what looks like a secret is masked, also for the index. */
  readonly redact?: boolean;
  /** Whether only the house may open the source, because it checks each time what is opened. */
  readonly inHouse?: boolean;
}

export interface KeptIndexOptions {
  readonly folder: string;
  readonly tools: Tools;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  /** A mount of more files than this is not indexed. */
  readonly maxFiles?: number;
  readonly embeddings?: EmbeddingOptions | undefined;
  /** Whether one pass is all that is wanted. */
  readonly once?: boolean;
  readonly leaseMs?: number;
  readonly everyMs?: number;
}

/** Of the mounts that are indexed here. */
export interface ShownStatus extends Omit<IndexStatus, "mounts"> {
  readonly mounts: readonly Omit<MountStatus, "key">[];
}

export interface KeptIndex extends SearchIndex {
  /** From here on these mounts are indexed, and no others. */
  serve(mounts: readonly SearchedMount[]): void;
  readonly role: Role;
  /** Undefined until it is known. */
  readonly status: ShownStatus | undefined;
  /** Hears whenever the status is another, until the signal ends. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Resolves when every mount has been looked at, or cannot be; on request, also when every passage has its vector. */
  caughtUp(call: Pick<Call, "signal" | "progress">, more?: { readonly vectors?: boolean }): Promise<void>;
  /** Afterwards nothing runs and nothing is held. */
  close(): Promise<void>;
}

/** Changes with what is put in from a text, so that everything is put in anew. */
const crawlVersion = 1;
/** Those in which nothing more is to be expected. */
const endedStates: ReadonlySet<MountStatus["state"]> = new Set(["failing", "full", "large"]);
const firstRestartMs = 1000;
const longestRestartMs = 300_000;

/** A mount, and what it is made from. */
interface Served extends SearchedMount {
  readonly key: string;
}

interface Followed {
  readonly mount: Served;
  readonly stop: AbortController;
}

export function createKeptIndex(options: KeptIndexOptions): KeptIndex {
  const { folder, tools, embeddings, once = false } = options;
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const followed = new Map<string, Followed>();
  const heard = new Map<string, HeardChange[]>();
  const answering = new Map<number, AbortController>();
  // Who wants one answer wants it soon; others may never ask.
  const questions = createQuestions({ folder, embeddings }, tools, { isEager: once });
  let served: readonly Served[] = [];
  let role: Role = "starting";
  let status: IndexStatus | undefined;
  let restartMs = firstRestartMs;
  /** The thread that had nothing to keep, and when it has ended. */
  let resting: { readonly worker: Worker; readonly gone: Promise<void> } | undefined;
  let indexer = startIndexer();

  function startIndexer(): Worker {
    const data: IndexerData = {
      folder,
      embeddings,
      maxFileBytes: options.maxFileBytes,
      maxBytes: options.maxBytes,
      maxFiles: options.maxFiles ?? Infinity,
      once,
      ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
      ...(options.everyMs !== undefined && { everyMs: options.everyMs }),
    };
    const worker = startThread(new URL("./indexer-thread.ts", import.meta.url), {
      name: "pressmark-indexer",
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 },
    });
    worker.on("message", (message: FromIndexer) => void hearIndexer(message));
    worker.on("error", (cause) => tools.log("error", "the thread that keeps the index failed", { cause }));
    worker.once("exit", () => {
      if (worker !== resting?.worker) void restart();
    });
    return worker;
  }

  async function restart(): Promise<void> {
    unfollow();
    if (closing.signal.aborted) return;
    role = "starting";
    const delayMs = restartMs;
    restartMs = Math.min(restartMs * 2, longestRestartMs);
    await tools.wait(delayMs, closing.signal).catch(() => undefined);
    if (closing.signal.aborted) return;
    indexer = startIndexer();
    tellMounts();
  }

  /** Whether all that is served is known to be too large: until something else is served there is nothing to do. */
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
    // Woken twice, it gets up once.
    if (closing.signal.aborted || resting !== rested) return;
    resting = undefined;
    indexer = startIndexer();
    tellMounts();
  }

  function tell(message: ToIndexer): void {
    if (!closing.signal.aborted || "close" in message) indexer.postMessage(message, []);
  }

  async function hearIndexer(message: FromIndexer): Promise<void> {
    if ("said" in message) return tools.log(...message.said);
    if ("follow" in message) return followMount(message.follow);
    if ("ask" in message) return answer(message.ask);
    if ("withdraw" in message) return answering.get(message.withdraw)?.abort();
    role = message.role;
    status = message.status;
    if (role === "reader") unfollow();
    if (role === "writer" && !once && hasNothing())
      resting ??= { worker: indexer, gone: ended(indexer).then(giveBack) };
    for (const listener of listeners) listener();
  }

  /** One watch of each mount is shared by all who listen in the house. */
  async function followMount(name: string): Promise<void> {
    const mount = served.find((each) => each.name === name);
    if (!mount || closing.signal.aborted) return;
    followed.get(name)?.stop.abort();
    const stop = new AbortController();
    followed.set(name, { mount, stop });
    const watchers = createWatchers(mount.source, { name }, tools, { lingerMs: 0 });
    await watchers.join((change) => hear(name, withListed(change, mount.source)), stop.signal);
    if (!stop.signal.aborted) tell({ armed: name });
  }

  function hear(mount: string, change: HeardChange): void {
    const waiting = heard.get(mount);
    if (waiting) return void waiting.push(change);
    heard.set(mount, [change]);
    setImmediate(() => {
      const changes = heard.get(mount) ?? [];
      heard.delete(mount);
      tell({ mount, changes });
    });
  }

  function unfollow(): void {
    for (const { stop } of followed.values()) stop.abort();
    followed.clear();
  }

  /** Where a source was opened anew and is still the same to the index, its changes come from there. */
  function refollow(): void {
    for (const [name, { mount, stop }] of followed) {
      const now = served.find((each) => each.name === name);
      if (now?.source === mount.source) continue;
      stop.abort();
      followed.delete(name);
      if (now?.key === mount.key) void followMount(name).then(() => hear(name, { kind: "lost" }));
    }
  }

  async function answer({ id, mount: name, operation, asked }: SourceAsk): Promise<void> {
    const stop = new AbortController();
    const call: Call = { caller: { id: "pressmark" }, signal: stop.signal };
    answering.set(id, stop);
    try {
      const source = served.find((each) => each.name === name)?.source;
      // The thread asks only for what it was told to be there, of mounts it was told of.
      const ask = source?.[operation] as ((asked: unknown, call: Call) => Promise<unknown>) | undefined;
      if (!ask) throw new ResourceError("cancelled", "the mount is no longer served");
      tell({ answer: { id, answer: await ask.call(source, asked, call) } });
    } catch (cause) {
      tell({ answer: { id, failure: toFailure(cause) } });
    } finally {
      answering.delete(id);
    }
  }

  function tellMounts(): void {
    const mounts: ThreadMount[] = served.map(
      ({ name, key, source, definition, options: given, redact = false, inHouse }) => ({
        name,
        key,
        isWatched: !once && source.watch !== undefined,
        hasStat: source.stat !== undefined,
        hasOrder: source.order !== undefined,
        ...(!inHouse &&
          isOpenable(definition, given) && { opened: { source: definition.name, options: given, redact } }),
      }),
    );
    tell({ serve: mounts });
  }

  /** What is said of a mount under its name that is made from something else is not meant. */
  function statusOf(mount: string) {
    const key = served.find(({ name }) => name === mount)?.key;
    return status?.mounts.find((each) => each.name === mount && each.key === key);
  }

  return {
    get role() {
      return role;
    },
    get status() {
      return status && { ...status, mounts: served.flatMap(({ name }) => withoutKey(statusOf(name))) };
    },

    serve(mounts) {
      served = mounts.map((mount) => ({ ...mount, key: keyOf(mount, options) }));
      if (!resting) tellMounts();
      else if (!hasNothing()) void wake();
      refollow();
    },

    ready(mount) {
      if (!served.some(({ name }) => name === mount) || isLarge(mount)) return undefined;
      return role === "starting" ? 0 : (statusOf(mount)?.ready ?? 0);
    },

    search({ mounts, ...ask }, signal) {
      const meant = served.filter(({ name }) => mounts === undefined || mounts.includes(name));
      return questions.search({ ...ask, mounts: meant.map(({ name, key }) => ({ name, key })) }, signal);
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
          if (role === "starting" || !isDone || !isEmbedded) return;
          over.abort();
          resolve();
        };
        const stop = (): void => {
          over.abort();
          reject(new ResourceError("cancelled", "the question was withdrawn"));
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
      unfollow();
      for (const stop of answering.values()) stop.abort();
      await Promise.all([ended(indexer), questions.close()]);
    },
  };
}

function withListed(change: SourceChange, source: Source): HeardChange {
  if (change.kind === "lost" || change.kind === "gone" || !source.lists) return change;
  return { ...change, isListed: source.lists({ path: change.path }) };
}

/** What is made from something else is something else, also under the same name. */
function keyOf({ definition, options, redact }: SearchedMount, { maxFileBytes }: KeptIndexOptions): string {
  const made = JSON.stringify([
    crawlVersion,
    definition.name,
    options,
    maxFileBytes,
    ...(redact ? ["redacted", 2] : []),
  ]);
  return createHash("sha256").update(made).digest("base64url").slice(0, 22);
}

function withoutKey(mount: MountStatus | undefined): Omit<MountStatus, "key">[] {
  if (!mount) return [];
  const { key: _key, ...shown } = mount;
  return [shown];
}

/** Whether a thread can open the source as the house did. */
function isOpenable({ name, openedOnce }: SourceDefinition, options: unknown): boolean {
  if (openedOnce || !Object.hasOwn(sources, name)) return false;
  try {
    structuredClone(options);
    return true;
  } catch {
    return false;
  }
}
