/** Keeps the index of one mount up to date: one full pass, then every change as it happens. */
import { createHash } from "node:crypto";
import { ResourceError, toResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { createTimeSlices } from "../lib/time-slices.ts";
import { type Call, directoryType, serverCaller } from "../resources.ts";
import type { Entry, Source, SourceChange, Runtime } from "../source.ts";
import type { CrawledStore, IndexedDocument, Stored } from "./store.ts";
import { encodeQuery } from "./address-key.ts";
import { createStoredHeap, createStoredRun } from "./stored-run.ts";
import { textOf, type TextLimits } from "./text-of.ts";

export type HeardChange =
  /** With whether the list of indexed entries includes the path. If not, the index has it only with a query, if at all. */
  | (SourceChange & { readonly isListed?: boolean })
  /** No changes are reported any more: the mount turned out to be unwatchable. */
  | { readonly kind: "unwatched" };

export interface CrawlOptions extends TextLimits {
  readonly mount: string;
  readonly source: Pick<Source, "list" | "listIndexed" | "indexedSince" | "read" | "stat" | "order" | "isUnordered">;
  readonly store: CrawledStore;
  readonly runtime: Runtime;
  /** True if changes are reported through `hear`. If not, or no longer, everything is checked again every `everyMs`. */
  readonly isWatched: boolean;
  /** True for a single pass. */
  readonly once?: boolean;
  readonly everyMs?: number;
  /** Size of a batch; nothing else runs on the thread while it is stored. */
  readonly batchChars?: number | undefined;
  /** After so many failed passes in a row, `run` rejects with the failure. Default: it is retried for ever. */
  readonly maxFailures?: number;
  /** A larger mount is not indexed at all: searching a part of it would mislead. */
  readonly maxFiles?: number;
  /** Called once, before anything is read. Resolves when all later changes will be reported. */
  follow?(signal: AbortSignal): Promise<void>;
  /** Returns whether the index may still grow. If not, nothing is added. */
  mayGrow(): boolean;
  /** Called whenever `state` has changed. */
  moved(): void;
}

export interface CrawlState {
  /** "partial": everything was checked, and some of it could not be read. "complete": nothing is known to be missing or stale. */
  readonly phase: "waiting" | "counting" | "indexing" | "complete" | "partial" | "failing" | "large";
  /** Number of entries checked in this pass, and the known total. */
  readonly looked: number;
  readonly total: number;
  /** True if a pass is complete and no other is needed: what is missing is among `changes` and `unread`. */
  readonly isPassed: boolean;
  /** Number of changes still to be checked. */
  readonly changes: number;
  /** Number of entries that could not be read. They are retried, after a longer wait each time. */
  readonly unread: number;
  /** Share of the mount that is indexed, from 0 to 1; 1 only when nothing is known to be missing or stale. */
  readonly ready: number;
  readonly lastError?: string;
}

/**
 * Size of a batch: changes are handled between batches. A store that collects several batches in a commit gets smaller ones, because what is
 * held for long takes more memory; any other writes each batch by itself.
 */
const collectedDocuments = 64;
const writtenDocuments = 256;
/** Number of changes that are checked together. */
const changesAtOnce = 256;
const defaultBatchChars = 2 * 1024 * 1024;
/**
 * A pass commits several batches together, and a kill loses at most these. It doubles their number of documents up to this: the first texts are
 * found soon, and many texts are written as one segment, which need not be merged.
 */
const maxCommitDocuments = 16_384;
/** Maximum size of the texts of a commit. */
const maxCommitChars = 16 * 1024 * 1024;
/** Texts of a slow source are found after this time. */
const maxCommitMs = 15_000;
const readsAtOnce = 4;
const statsAtOnce = 16;
const pageSize = 1000;
const maxChanges = 50_000;
const firstRetryMs = 1000;
const longestRetryMs = 30_000;
/** After this time, messages and signals get their turn. */
const sliceMs = 10;

/** Called after each batch, with the number of its entries and the size of their texts. The caller commits. */
type BetweenBatches = (settled: number, chars: number) => Promise<void>;

interface Work {
  readonly entry: Entry;
  readonly stored: Stored | undefined;
}

/** Names of the notes about a mount: the number of its entries, and its state before the last complete pass. */
export const totalNote = (mount: string): string => `total:${mount}`;
export const stateNote = (mount: string): string => `state:${mount}`;

export type Crawl = ReturnType<typeof createCrawl>;

export function createCrawl(options: CrawlOptions) {
  const { mount, source, store, runtime, once = false, everyMs = 300_000, mayGrow, moved } = options;
  const { maxFiles = Infinity, maxFailures = Infinity, batchChars = defaultBatchChars } = options;
  const batchDocuments = store.commit ? collectedDocuments : writtenDocuments;
  const changes = new Map<string, "gone" | "there" | "unlisted">();
  /** Paths that were read again because they changed during a pass: they are newer than what the pass knows. */
  const touched = new Set<string>();
  const saidErrors = new Set<string>();
  let phase: CrawlState["phase"] = "waiting";
  let looked = 0;
  let total = 0;
  /** Paths that could not be read. */
  const unread = new Set<string>();
  /** True if one of them has a query: only a full pass finds it again. */
  let isUnreadByQuery = false;
  let lastError: string | undefined;
  /** Number of changes being checked. */
  let inProgress = 0;
  let isPassWanted = true;
  /** True before the first pass: an earlier process may have left a complete index. */
  let isFirst = true;
  let isFollowed = false;
  let { isWatched } = options;
  /** True if the index had no room for a text. */
  let isCut = false;
  let wake: (() => void) | undefined;
  const pause = createTimeSlices(sliceMs);

  const listPage: Source["list"] = (request, call) =>
    source.listIndexed ? source.listIndexed(request, call) : source.list(request, call);

  function move(next: CrawlState["phase"] = phase): void {
    phase = next;
    moved();
  }

  /** Writing takes much longer than reading. */
  async function remember(name: string, value: string): Promise<void> {
    if (((await store.note(name)) ?? "") !== value) await store.setNote(name, value);
  }

  function logOnce(cause: unknown, path?: string): void {
    const { kind, message } = toResourceError(cause);
    if (kind === "cancelled") return;
    lastError = message;
    // The same error of many resources is logged once.
    if (saidErrors.has(kind)) return;
    saidErrors.add(kind);
    runtime.log("warn", "a resource could not be read for the search index; it will be retried", {
      mount,
      path,
      cause,
    });
  }

  async function toDocument(
    { entry: listed, stored }: Work,
    call: Call,
  ): Promise<IndexedDocument | "gone" | "as before" | undefined> {
    try {
      const found = await textOf(source, listed, options, call);
      unread.delete(listed.path);
      if (found === undefined) return "gone";
      const { text, title, version: versionRead, reveals } = found;
      const entry = title === undefined || listed.title !== undefined ? listed : { ...listed, title };
      const version = entry.version ?? versionRead ?? `text:${hashOf(entry, text)}`;
      if (stored?.version === version) return "as before";
      return { mount, text, entry: { ...entry, version, ...(reveals && { reveals }) } };
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      leaveUnread(listed, cause);
      return undefined;
    }
  }

  function leaveUnread({ path, query }: Pick<Entry, "path" | "query">, cause: unknown): void {
    unread.add(path);
    if (query) isUnreadByQuery = true;
    logOnce(cause, path);
  }

  /** Reads and stores entries, a batch at a time. */
  async function settle(work: readonly Work[], call: Call, between?: BetweenBatches): Promise<void> {
    let next = 0;
    while (next < work.length) {
      const documents: IndexedDocument[] = [];
      const gone: Entry[] = [];
      let chars = 0;
      const start = next;
      const reader = async (): Promise<void> => {
        while (next < work.length && next - start < batchDocuments && chars < batchChars) {
          call.signal.throwIfAborted();
          const item = work[next++] as Work;
          await pause();
          const document = await toDocument(item, call);
          if (document === "gone") gone.push(item.entry);
          else if (typeof document === "object") {
            documents.push(document);
            chars += document.text.length + 256;
          }
        }
      };
      await Promise.all(Array.from({ length: readsAtOnce }, reader));
      if (gone.length > 0) await store.remove(mount, gone);
      if (documents.length > 0 && mayGrow()) await store.put(documents, between !== undefined);
      else if (documents.length > 0) isCut = true;
      await between?.(next - start, chars);
      await turn(call.signal);
    }
  }

  /** Counts the entries, to report the progress of the first pass. */
  async function count(call: Call): Promise<void> {
    const lastTotal = Number(await store.note(totalNote(mount)));
    total = Number.isSafeInteger(lastTotal) && lastTotal > 0 ? lastTotal : 0;
    if (total > 0) return;
    move("counting");
    let cursor: string | undefined;
    do {
      const page = await listPage({ limit: pageSize, cursor, versions: false }, call);
      total += page.items.length;
      cursor = page.next;
      move();
      await turn(call.signal);
      if (total > maxFiles) return;
    } while (cursor !== undefined);
    // A process that continues after a crash does not count again.
    await remember(totalNote(mount), String(total));
  }

  /** Removes the mount from the index. */
  async function removeAll(): Promise<void> {
    await store.removeBelow(mount, "");
    for (const name of [totalNote(mount), stateNote(mount)]) await store.setNote(name, "");
    [looked, total, isPassWanted] = [0, 0, false];
    lastError = `more than ${maxFiles} files, so none is indexed; see search.maxFiles`;
    runtime.log("warn", "the mount has too many files to be indexed, so it cannot be searched; see search.maxFiles", {
      mount,
      maxFiles,
    });
    move("large");
  }

  async function pass(call: Call): Promise<void> {
    isPassWanted = false;
    touched.clear();
    looked = 0;
    forgetUnread();
    isCut = false;
    await count(call);
    if (total > maxFiles) return removeAll();
    // Only when a pass is certain; and before the pass, so that no change is missed.
    if (!isFollowed) await options.follow?.(call.signal);
    isFollowed = true;
    call.signal.throwIfAborted();
    move("indexing");
    const before = (await store.note(stateNote(mount))) || undefined;
    // A server lists everything, so that the source knows what to watch; its index soon differs from any stored state.
    const { state, changes: since } = (once ? await source.indexedSince?.(before, call) : undefined) ?? {};
    const resumed = isFirst && before !== undefined ? since : undefined;
    // Cleared first: the index may be closed before the pass is complete.
    if (resumed?.length !== 0) await remember(stateNote(mount), "");
    if (resumed) await resume(resumed, call);
    else await compareAll(call);
    isFirst = false;
    if (phase === "large") return;
    // If another pass is wanted, the process may stop before its end.
    const isStored =
      !isPassWanted && unread.size === 0 && !isCut && (resumed !== undefined || (await isStill(state, call)));
    await remember(stateNote(mount), isStored ? (state ?? "") : "");
    forgetErrors();
    move(isPassWanted ? "indexing" : "complete");
  }

  /** False if the source has changed while it was listed: the index may then contain what neither this state nor the next has. */
  async function isStill(state: string | undefined, call: Call): Promise<boolean> {
    return state !== undefined && (await source.indexedSince?.(state, call))?.changes?.length === 0;
  }

  const isFresh = ({ path }: { readonly path: string }) => !touched.has(path);

  /** Takes only what has changed since the index was complete. */
  async function resume(since: readonly SourceChange[], call: Call): Promise<void> {
    looked = total;
    hear(since);
    await drain(call);
  }

  /** The list and the store usually have the same order, so one walk along both finds what is new, changed and gone. */
  async function compareAll(call: Call): Promise<void> {
    const isOrdered = !source.order && !source.isUnordered;
    const known = isOrdered ? createStoredRun(store, mount) : await createStoredHeap(store, mount);
    /** In a list without order, an address may occur again, and those of one path need not be together. */
    const listed = source.isUnordered ? new Set<string>() : undefined;
    let seen = 0;
    let work: Work[] = [];
    let gone: Stored[] = [];
    let group: Entry[] = [];
    let commitMost = batchDocuments;
    const open = { documents: 0, chars: 0, sinceMs: runtime.monotonicMs() };

    /** Only what is committed counts as checked: a search finds it. */
    async function commit(isLast = false): Promise<void> {
      await store.commit?.(mount, isLast);
      looked += open.documents;
      commitMost = Math.min(commitMost * 2, maxCommitDocuments);
      [open.documents, open.chars, open.sinceMs] = [0, 0, runtime.monotonicMs()];
      move();
    }
    async function flush(): Promise<void> {
      const [todo, left] = [work.filter(({ entry }) => isFresh(entry)), gone.filter(isFresh)];
      looked += work.length - todo.length;
      [work, gone] = [[], []];
      if (left.length > 0) await store.remove(mount, left);
      const between = async (settled: number, chars: number): Promise<void> => {
        open.documents += settled;
        open.chars += chars;
        const isEnough = open.documents >= commitMost || open.chars >= maxCommitChars;
        if (isEnough || runtime.monotonicMs() - open.sinceMs >= maxCommitMs) await commit();
        await drain(call);
      };
      await settle(todo, call, between);
    }
    async function closeGroup(): Promise<void> {
      const [first] = group;
      if (first === undefined) return;
      gone.push(...(await known.takeBefore(first.path)));
      const stored = await known.takeAt(first.path);
      for (const entry of group) {
        const at = stored.findIndex((other) => isSameQuery(other, entry));
        const before = at < 0 ? undefined : stored.splice(at, 1)[0];
        if (before?.version !== undefined && before.version === entry.version) looked += 1;
        else work.push({ entry, stored: before });
      }
      if (listed) known.giveBack(first.path, stored);
      else gone.push(...stored);
      group = [];
    }

    let cursor: string | undefined;
    do {
      const page = await listPage({ limit: pageSize, cursor }, call);
      for (const entry of page.items) {
        const key = listed && `${entry.path}?${encodeQuery(entry.query)}`;
        if (key !== undefined && listed?.has(key)) continue;
        if (key !== undefined) listed?.add(key);
        seen += 1;
        const [first] = group;
        if (first !== undefined && (listed || first.path !== entry.path)) {
          if (isOrdered && compareAddresses(first.path, entry.path) > 0)
            throw new ResourceError("unexpected", "the source does not list its entries in the order of addresses");
          await closeGroup();
        }
        group.push(entry);
        if (work.length >= batchDocuments || gone.length >= pageSize) await flush();
      }
      total = Math.max(total, seen);
      if (total > maxFiles) return removeAll();
      cursor = page.next;
      move();
      await turn(call.signal);
      await drain(call);
    } while (cursor !== undefined);
    await closeGroup();
    for (let rest = await known.takeRest(); rest.length > 0; rest = await known.takeRest()) {
      gone.push(...rest);
      await flush();
    }
    await flush();
    await commit(true);
    total = seen;
    looked = seen;
    await remember(totalNote(mount), String(seen));
  }

  /** Handles everything that has changed meanwhile. */
  async function drain(call: Call): Promise<void> {
    while (changes.size > 0) {
      call.signal.throwIfAborted();
      const taken: [path: string, kind: "gone" | "there" | "unlisted"][] = [];
      for (const change of changes) {
        if (taken.push(change) >= changesAtOnce) break;
      }
      for (const [path, kind] of taken) {
        changes.delete(path);
        if (kind !== "unlisted") touched.add(path);
      }
      inProgress = taken.length;
      // Removals first: an entry that replaced a removed one is read after it.
      for (const [path, kind] of taken)
        if (kind === "gone") {
          await store.removeBelow(mount, path);
          unread.delete(path);
          await turn(call.signal);
        }
      const work: Work[] = [];
      const there = taken.filter(([, kind]) => kind !== "gone");
      let next = 0;
      const looker = async (): Promise<void> => {
        for (let change = there[next++]; change; change = there[next++]) {
          await pause();
          work.push(...(await lookAt(change[0], change[1] === "there", call)));
        }
      };
      await Promise.all(Array.from({ length: statsAtOnce }, looker));
      await settle(work, call);
      inProgress = 0;
      if (phase === "complete") forgetErrors();
      move();
    }
    if (touched.size > maxChanges) {
      touched.clear();
      isPassWanted = true;
    }
  }

  /** Returns what to read for a changed path. What no longer exists is removed from the index. */
  async function lookAt(path: string, isListed: boolean, call: Call): Promise<Work[]> {
    const withQuery = await store.stored(mount, { after: { path }, limit: 100 });
    const addresses = [...(isListed ? [{ path }] : []), ...withQuery];
    const work: Work[] = [];
    for (const address of addresses) {
      if (address.path !== path) break;
      try {
        const entry = await source.stat!(address, call);
        if (entry.mimeType !== directoryType) work.push({ entry, stored: undefined });
        else await store.remove(mount, [address]);
      } catch (cause) {
        if (call.signal.aborted) throw cause;
        const { kind } = toResourceError(cause);
        if (kind === "not-found" || kind === "denied") {
          await store.remove(mount, [address]);
          unread.delete(path);
        } else leaveUnread(address, cause);
      }
    }
    return work;
  }

  /** Errors are kept only while something is missing because of them. */
  function forgetErrors(): void {
    if (unread.size > 0) return;
    lastError = undefined;
    saidErrors.clear();
  }

  function forgetUnread(): void {
    unread.clear();
    isUnreadByQuery = false;
  }

  /** Queues unread paths again. */
  function retryUnread(): void {
    if (source.stat && !isUnreadByQuery) for (const path of unread) changes.set(path, changes.get(path) ?? "there");
    else isPassWanted = true;
    forgetUnread();
  }

  function hear(heard: readonly HeardChange[]): void {
    for (const change of heard) {
      if (change.kind === "unwatched") isWatched = false;
      else if (change.kind === "lost" || !source.stat || changes.size >= maxChanges) {
        changes.clear();
        isPassWanted = true;
      } else if (change.kind === "gone" && !isAlone(change)) changes.set(change.path, "gone");
      else changes.set(change.path, change.isListed === false ? "unlisted" : "there");
    }
    move(isPassWanted && phase === "complete" ? "indexing" : phase);
    wake?.();
  }

  /** Waits until there is work. */
  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (isPassWanted || changes.size > 0 || signal.aborted) return;
    const waking = new AbortController();
    wake = () => waking.abort();
    signal.addEventListener("abort", wake);
    if (ms === Infinity) await new Promise((resolve) => waking.signal.addEventListener("abort", resolve));
    else await runtime.wait(ms, waking.signal).catch(() => undefined);
    signal.removeEventListener("abort", wake);
    wake = undefined;
  }

  return {
    get state(): CrawlState {
      const waiting = changes.size + inProgress;
      const missing = waiting + unread.size;
      const share = total === 0 ? 0 : Math.min(looked / total, 0.99);
      const isPassed = phase === "complete";
      return {
        phase: !isPassed || missing === 0 ? phase : waiting > 0 ? "indexing" : "partial",
        looked,
        total,
        isPassed,
        changes: waiting,
        unread: unread.size,
        ready: !isPassed ? share : missing === 0 ? 1 : Math.min(total / (total + missing), 0.99),
        lastError,
      };
    },

    hear,

    /** Runs until the signal is aborted, too many passes have failed, or the mount turns out to be too large; with `once`, until a pass is complete or has failed. */
    async run(signal: AbortSignal): Promise<void> {
      const call: Call = { caller: serverCaller, signal };
      let retryMs = firstRetryMs;
      let unreadMs = firstRetryMs;
      let failures = 0;
      while (!signal.aborted) {
        try {
          if (isPassWanted) await pass(call);
          else await drain(call);
          retryMs = firstRetryMs;
          failures = 0;
          if (phase === "large") return;
          if (isPassWanted || changes.size > 0) continue;
          if (once) return;
          if (unread.size === 0) unreadMs = firstRetryMs;
          const isRetried = unread.size > 0 && unreadMs < everyMs;
          await sleep(isRetried ? unreadMs : isWatched && unread.size === 0 ? Infinity : everyMs, signal);
          if (changes.size > 0 || isPassWanted || signal.aborted) continue;
          if (isRetried) {
            unreadMs *= 2;
            retryUnread();
          } else isPassWanted = true;
        } catch (cause) {
          if (signal.aborted) return;
          logOnce(cause);
          inProgress = 0;
          isPassWanted = true;
          move("failing");
          if (once) return;
          failures += 1;
          if (failures >= maxFailures) throw cause;
          await runtime.wait(retryMs, signal).catch(() => undefined);
          retryMs = Math.min(retryMs * 2, everyMs, longestRetryMs);
        }
      }
    },
  };
}

/** True for a resource that is gone while its children may still be there. */
function isAlone(change: HeardChange): boolean {
  return "eachBelow" in change && !("isUnlisted" in change);
}

function isSameQuery(
  { query: left = {} }: Pick<Stored, "query">,
  { query: right = {} }: Pick<Entry, "query">,
): boolean {
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
}

/** Used where there is no version: the shown fields and the text itself. */
function hashOf({ title, description, mimeType, annotations }: Entry, text: string): string {
  const shown = JSON.stringify([title, description, mimeType, annotations]);
  return createHash("sha256").update(`${shown}\0`).update(text).digest("base64url").slice(0, 22);
}

/** Yields to messages, timers and other work. */
async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
