/** Collects the entries of an audit log, and stores them together. */
import type { AuditEntry, AuditLog, AuditOptions } from "./audit-log.ts";
import { auditEntryBytes, toAuditEntries, toAuditEntry } from "./audit-entry.ts";

interface AuditSinkOptions extends AuditOptions {
  /** Stores entries in order, about as many bytes in all; called once at a time. */
  append(entries: readonly AuditEntry[], bytes: number): Promise<void>;
  /** Delay before entries are stored again that could not be. Default: they are lost. */
  readonly retryMs?: number;
}

/** The number of events that were not recorded, by caller. */
type LostEvents = Map<string | undefined, number>;

/** Entries are stored together after this long, or when half as many wait as may. */
const flushMs = 100;
/** How many may wait, and how many bytes in all. Then requests wait; while nothing can be stored, more are counted and left out. */
const maxWaiting = 10_000;
const maxWaitingMiB = 16;
const maxWaitingBytes = maxWaitingMiB * 1024 * 1024;
/** Entries that are stored at once: one statement has a time limit, and a text in V8 has a maximum length. */
const partBytes = 1024 * 1024;
/** Callers whose lost events are counted apart. */
const maxLostCallers = 100;

export function createAuditSink(options: AuditSinkOptions): AuditLog {
  const { append, retryMs, runtime } = options;
  /** Not stored yet, also those that are being stored. */
  const waiting: { readonly entry: AuditEntry; readonly bytes: number }[] = [];
  let waitingBytes = 0;
  /** Events of which the log does not tell yet. */
  let lost: LostEvents = new Map();
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> | undefined;
  /** Whether the last attempt to store failed. */
  let isAway = false;
  /** Whether the server's log says that nothing can be stored, and not yet that it can again. */
  let isReported = false;
  let room: PromiseWithResolvers<void> | undefined;
  const failure =
    retryMs === undefined
      ? "the audit log cannot be written; what happens is not recorded"
      : `the audit log cannot be written yet; up to ${maxWaiting} events (${maxWaitingMiB} MiB) are kept until it can`;

  const isFilled = (share: number): boolean =>
    waiting.length >= maxWaiting * share || waitingBytes >= maxWaitingBytes * share;
  const isOverfull = (): boolean => waiting.length > maxWaiting || waitingBytes > maxWaitingBytes;

  function lose(caller: string | undefined, count = 1): void {
    const counted = lost.has(caller) || lost.size < maxLostCallers ? caller : undefined;
    lost.set(counted, (lost.get(counted) ?? 0) + count);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    storing ??= store().finally(() => {
      storing = undefined;
      if (waiting.length > 0) flushSoon();
    });
    return storing;
  }

  function flushSoon(): void {
    if (storing) return;
    if (isAway) flushIn(retryMs ?? flushMs);
    else if (isFilled(0.5)) void flush();
    else flushIn(flushMs);
  }

  function flushIn(ms: number): void {
    timer ??= setTimeout(() => void flush(), ms).unref();
  }

  /** Stores what waits now, in parts, and behind it how much is missing. */
  async function store(): Promise<void> {
    for (let left = waiting.length; left > 0;) {
      const { count, bytes } = partOf(left);
      left -= count;
      const entries = waiting.slice(0, count).map(({ entry }) => entry);
      const missing: LostEvents = left === 0 ? lost : new Map();
      if (left === 0) lost = new Map();
      try {
        await append([...entries, ...lossesOf(missing)], bytes);
      } catch (cause) {
        if (!isReported) runtime.log("error", failure, { cause });
        isAway = isReported = true;
        for (const [caller, number] of missing) lose(caller, number);
        if (retryMs !== undefined) {
          while (isOverfull()) lose(removeLast());
          letIn();
          return;
        }
        removeFirst(count, bytes);
        for (const { caller } of entries) lose(caller);
        letIn();
        continue;
      }
      isAway = false;
      removeFirst(count, bytes);
      letIn();
      if (left === 0) report(totalOf(missing));
    }
  }

  /** The first entries, of limited size. */
  function partOf(most: number): { readonly count: number; readonly bytes: number } {
    let [count, bytes] = [0, 0];
    do {
      bytes += waiting[count]!.bytes;
      count += 1;
    } while (count < most && bytes < partBytes);
    return { count, bytes };
  }

  function removeFirst(count: number, bytes: number): void {
    waiting.splice(0, count);
    waitingBytes -= bytes;
  }

  /** Returns its caller. */
  function removeLast(): string | undefined {
    const { entry, bytes } = waiting.pop()!;
    waitingBytes -= bytes;
    return entry.caller;
  }

  function letIn(): void {
    if (isOverfull() && !isAway) return;
    room?.resolve();
    room = undefined;
  }

  function report(missing: number): void {
    // By default a server logs no level below "warn", and has logged the failure.
    if (isReported)
      runtime.log(
        "warn",
        `the audit log is written again; ${missing === 0 ? "nothing is missing" : areMissing(missing)}`,
      );
    else if (missing > 0) runtime.log("warn", `${areMissing(missing)} in the audit log`);
    isReported = false;
  }

  function lossesOf(missing: LostEvents): AuditEntry[] {
    return [...missing].map(([caller, count]) => {
      const detail = `${count} ${count === 1 ? "event" : "events"} could not be recorded`;
      return toAuditEntry(now(), { what: "config", caller, outcome: "failed", detail }, options);
    });
  }

  function now(): string {
    return new Date(runtime.now()).toISOString();
  }

  function add(entry: AuditEntry): void {
    const bytes = auditEntryBytes(entry);
    waiting.push({ entry, bytes });
    waitingBytes += bytes;
  }

  return {
    write(event) {
      if (isAway && isFilled(1)) lose(event.caller);
      else if (event.uris === undefined) add(toAuditEntry(now(), event, options));
      else for (const entry of toAuditEntries(now(), event, options)) add(entry);
      flushSoon();
      return isAway || !isOverfull() ? undefined : (room ??= Promise.withResolvers()).promise;
    },
    async close() {
      await storing;
      for (;;) {
        await flush();
        if (waiting.length === 0 || isAway) break;
      }
      // No retry: nobody would wait for it.
      clearTimeout(timer);
      timer = undefined;
      const missing = totalOf(lost) + waiting.length;
      if (missing > 0) runtime.log("error", `${areMissing(missing)} in the audit log, because the server stopped`);
      waiting.length = waitingBytes = 0;
      lost = new Map();
    },
  };
}

function totalOf(missing: LostEvents): number {
  return [...missing.values()].reduce((sum, count) => sum + count, 0);
}

function areMissing(count: number): string {
  return count === 1 ? "1 event is missing" : `${count} events are missing`;
}
