/** Indexes the mounts whose lease this instance holds, and knows the status of all mounts from the instances that hold the others. */
import { ResourceError, toResourceError } from "../errors.ts";
import type { Source, Runtime } from "../source.ts";
import { errorForCallers } from "../state/database-for-callers.ts";
import type { HeldLease, Leases } from "../state/leases.ts";
import type { Store } from "../state/store.ts";
import { type Crawl, createCrawl, type HeardChange, stateNote, totalNote } from "./crawl.ts";
import { indexLease } from "./index-lease.ts";
import { type IndexedMount, keyNote } from "./indexer.ts";
import { toMountStatus, withWaiting } from "./mount-status.ts";
import { publishNames } from "./named-mounts.ts";
import { publishStatus, readSharedStatus } from "./shared-status.ts";
import type { IndexStatus, MountStatus } from "./status.ts";
import type { CrawledStore, IndexStore, MaybePromise } from "./store.ts";

/** The index as its writer sees it. Every write fails with "denied" once another instance holds the lease or has a newer version. */
export interface SharedIndexWriter extends CrawledStore {
  counts(): MaybePromise<ReturnType<IndexStore["counts"]>>;
}

export interface SharedIndexerOptions {
  /** Id of this instance. */
  readonly instance: string;
  /** Whose numbers the changes have. */
  readonly numbering?: string | undefined;
  readonly runtime: Runtime;
  readonly leases: Leases;
  /** Where the instances exchange the status of mounts. */
  readonly records: Store;
  readonly maxFileBytes: number;
  /** A mount with more files is not indexed. */
  readonly maxFiles?: number | undefined;
  /** Opens the index for the holder of a mount's lease, until the signal is aborted. */
  openWriter(held: HeldLease): SharedIndexWriter;
  open(mount: string): Promise<Source>;
  /** Requests a mount's changes. Resolves once all later changes will be reported. */
  follow(mount: string, signal: AbortSignal): Promise<void>;
  tell(status: IndexStatus): void;
}

interface MountRun {
  readonly mount: IndexedMount;
  readonly stop: AbortController;
  crawl: Crawl | undefined;
  /** Present while this instance indexes the mount. */
  status?: ReturnType<typeof publishStatus> | undefined;
  /** How often in a row this instance could not read the mount while it held the lease, and why. */
  failures: number;
  failure: string | undefined;
  done: Promise<void>;
}

/** How often the status is published at most, and at least. */
const publishMs = 500;
const refreshMs = 3000;
const firstRetryMs = 500;
const longestRetryMs = 30_000;
/** Failed passes after which another instance may try: perhaps only this one cannot read the source. */
const maxFailures = 3;
/** Others ask for a free lease every second. */
const firstTurnMs = 3000;

export function createSharedIndexer(options: SharedIndexerOptions) {
  const { runtime, leases, records, openWriter, tell, numbering } = options;
  const closing = new AbortController();
  const runs = new Map<string, MountRun>();
  /** By mount: number of the last change received. */
  const heard = new Map<string, number>();
  /** By mount: number of changes that this thread is still to receive. */
  const unsent = new Map<string, number>();
  let wanted: readonly IndexedMount[] = [];
  let arranging: Promise<void> = Promise.resolve();

  /** Competes for the lease of a mount, and indexes it while it holds the lease. */
  async function keep(run: MountRun): Promise<void> {
    const { mount, stop } = run;
    let retryMs = firstRetryMs;
    while (!stop.signal.aborted) {
      let held: HeldLease | undefined;
      let result: "lost" | "unreadable" = "lost";
      try {
        held = await leases.acquire(indexLease(mount.name), stop.signal);
        result = await indexAs(held, run);
        retryMs = firstRetryMs;
      } catch (cause) {
        if (stop.signal.aborted) break;
        const isTaken = cause instanceof ResourceError && (cause.kind === "denied" || cause.kind === "cancelled");
        runtime.log(isTaken ? "info" : "warn", "indexing a mount was interrupted, and is retried", {
          mount: mount.name,
          cause,
        });
      } finally {
        run.crawl = undefined;
        await held?.release().catch(() => undefined);
      }
      await runtime.wait(result === "unreadable" ? turnMs(run) : retryMs, stop.signal).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
  }

  /** Resolves with "lost" when the lease is lost or the mount is no longer wanted, and with "unreadable" when another instance should try. */
  async function indexAs(held: HeldLease, run: MountRun): Promise<"lost" | "unreadable"> {
    const { mount } = run;
    const over = new AbortController();
    const signal = AbortSignal.any([run.stop.signal, held.signal, over.signal]);
    const writer = openWriter({ ...held, signal });
    await prepare(writer, mount);
    const status = (run.status = publishStatus({
      records,
      runtime,
      mount,
      fence: held.fence,
      everyMs: { most: publishMs, least: refreshMs },
      status: async () => statusOf(run, writer),
      taken: () => over.abort(),
      signal,
    }));
    let source: Source | undefined;
    let refusal: unknown;
    let isUnreadable = false;
    try {
      source = await options.open(mount.name);
      const crawl = (run.crawl = createCrawl({
        mount: mount.name,
        source,
        store: failingTogether(writer, {
          denied(cause) {
            refusal ??= cause;
            over.abort();
          },
          failed: (cause) =>
            runtime.log("warn", "the shared index cannot be used to index a mount; it is retried", {
              mount: mount.name,
              cause,
            }),
        }),
        runtime,
        isWatched: mount.isWatched,
        maxFileBytes: options.maxFileBytes,
        maxFiles: options.maxFiles,
        maxFailures,
        ...(mount.isWatched && { follow: (stopped) => options.follow(mount.name, stopped) }),
        mayGrow: () => true,
        moved() {
          const { isPassed, looked } = crawl.state;
          if (isPassed || looked > 0) [run.failures, run.failure] = [0, undefined];
          status.changed();
        },
      }));
      await crawl.run(signal);
      // A mount that is too large keeps its lease, so that others know.
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } catch (cause) {
      isUnreadable = !signal.aborted;
      if (isUnreadable) giveUp(run, cause);
    } finally {
      over.abort();
      // While all instances fail, the status says so between their turns.
      await (isUnreadable ? status.leave(turnMs(run)) : status.ended);
      await source?.close?.().catch((cause: unknown) => {
        runtime.log("error", "a source could not be closed", { mount: mount.name, cause });
      });
    }
    if (refusal !== undefined) throw refusal;
    return isUnreadable ? "unreadable" : "lost";
  }

  function giveUp(run: MountRun, cause: unknown): void {
    const level = run.failures === 0 ? "warn" : "info";
    runtime.log(level, "this instance cannot read a mount to index it; another may, and this one tries again later", {
      mount: run.mount.name,
      cause,
    });
    run.failures += 1;
    run.failure = toResourceError(cause).message;
  }

  /** How long the other instances may try before this one does again. */
  function turnMs({ failures }: MountRun): number {
    return Math.min(firstTurnMs * 2 ** (failures - 1), longestRetryMs);
  }

  async function statusOf(run: MountRun, writer: SharedIndexWriter): Promise<MountStatus> {
    const { mount, crawl, failure } = run;
    const { name, key } = mount;
    // Read first: documents that are stored meanwhile are missing in the count, not claimed by it.
    const state = crawl?.state;
    const upTo = heard.get(name) ?? 0;
    const waiting = unsent.get(name) ?? 0;
    const { documents = 0, passages = 0 } = (await writer.counts()).find((each) => each.mount === name) ?? {};
    const status = toMountStatus({
      name,
      key,
      heard: upTo,
      numbering,
      documents,
      passages,
      crawl: state,
      failure,
      problem: undefined,
      isFull: false,
    });
    return { ...withWaiting(status, waiting), unsent: waiting };
  }

  async function arrange(): Promise<void> {
    for (const [name, run] of runs) {
      if (wanted.some((mount) => mount.name === name && mount.key === run.mount.key)) continue;
      run.stop.abort();
      await run.done;
      runs.delete(name);
    }
    if (closing.signal.aborted) return;
    for (const mount of wanted) {
      if (runs.has(mount.name)) continue;
      const run: MountRun = {
        mount,
        stop: new AbortController(),
        crawl: undefined,
        failures: 0,
        failure: undefined,
        done: Promise.resolve(),
      };
      runs.set(mount.name, run);
      run.done = keep(run);
    }
  }

  async function tellStatus(): Promise<void> {
    let isFailing = false;
    while (!closing.signal.aborted) {
      try {
        if (wanted.length > 0) tell(await readSharedStatus(records, wanted));
        isFailing = false;
      } catch (cause) {
        if (!isFailing) runtime.log("warn", "the status of the shared index cannot be read; it is retried", { cause });
        isFailing = true;
        const { message } = toResourceError(errorForCallers(cause));
        tell({
          mounts: [],
          bytes: 0,
          problem: { reason: "failed", message: `the shared index is unavailable: ${message}` },
        });
      }
      await runtime.wait(publishMs, closing.signal).catch(() => undefined);
    }
  }

  const telling = tellStatus();
  const naming = publishNames({ records, runtime, instance: options.instance, signal: closing.signal });

  return {
    /** What is indexed of the mounts named in `leftOut` stays stored. */
    serve(mounts: readonly IndexedMount[], leftOut: readonly string[] = []): void {
      wanted = mounts;
      naming.name([...mounts.map(({ name }) => name), ...leftOut]);
      arranging = arranging.then(arrange).catch((cause: unknown) => {
        runtime.log("error", "the mounts to index could not be changed", { cause });
      });
    },
    /** `upTo` is the number of the last of these changes. */
    hear(mount: string, changes: readonly HeardChange[], upTo = 0): void {
      heard.set(mount, upTo);
      runs.get(mount)?.crawl?.hear(changes);
    },
    /** How many changes of a mount are still to be heard. */
    setUnsent(mount: string, count: number): void {
      if ((unsent.get(mount) ?? 0) === count) return;
      unsent.set(mount, count);
      runs.get(mount)?.status?.changed();
    },
    async close(): Promise<void> {
      closing.abort();
      for (const { stop } of runs.values()) stop.abort();
      await arranging;
      await Promise.all([...[...runs.values()].map(({ done }) => done), telling, naming.ended]);
    },
  };
}

/**
 * The crawl retries what fails. A write that is refused because the lease is lost must end it instead. Callers get the message of a crawl that
 * fails, so `failed` is called with the first error of the database, and after each success with the next one.
 */
function failingTogether(
  writer: SharedIndexWriter,
  { denied, failed }: Readonly<Record<"denied" | "failed", (cause: unknown) => void>>,
): CrawledStore {
  let isFailing = false;
  const guarded =
    <Values extends readonly unknown[], Result>(method: (...values: Values) => MaybePromise<Result>) =>
    async (...values: Values): Promise<Result> => {
      try {
        const result = await method(...values);
        isFailing = false;
        return result;
      } catch (cause) {
        if (!(cause instanceof ResourceError)) throw cause;
        if (cause.kind === "denied") denied(cause);
        else if (cause.kind === "unavailable" && !isFailing) {
          isFailing = true;
          failed(cause);
        }
        throw errorForCallers(cause);
      }
    };
  return {
    put: guarded(writer.put),
    remove: guarded(writer.remove),
    removeBelow: guarded(writer.removeBelow),
    setNote: guarded(writer.setNote),
    stored: guarded(writer.stored),
    note: guarded(writer.note),
  };
}

/** What was indexed under the name of another mount is removed. The key is written last, so that an interrupted removal is repeated. */
async function prepare(writer: SharedIndexWriter, { name, key }: IndexedMount): Promise<void> {
  if ((await writer.note(keyNote(name))) === key) return;
  await writer.setNote(keyNote(name), "");
  await writer.removeBelow(name, "");
  for (const note of [totalNote(name), stateNote(name)]) await writer.setNote(note, "");
  await writer.setNote(keyNote(name), key);
}
