/** The leader's part of a shared watch: watches the source and publishes each change to all instances. */
import { type ResourceError, retryAfterOf, toResourceError, unavailable } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { createWaker } from "../lib/waker.ts";
import { serverCaller } from "../resources.ts";
import type { Runtime, Source, SourceChange, SourceWatch } from "../source.ts";
import type { Bus } from "../state/bus.ts";
import type { HeldLease } from "../state/leases.ts";

/** What the leader publishes. `isNew`: changes before it may have been missed. */
export type WatchMessage =
  | { readonly kind: "armed"; readonly isNew?: true }
  | { readonly kind: "changes"; readonly changes: readonly SourceChange[] };

/** Undefined for what this version does not know: another version or program may have sent it. */
export function parseWatchMessage(body: unknown): WatchMessage | undefined {
  const { kind, isNew, changes } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === "armed") return isNew === true ? { kind, isNew } : { kind };
  return kind === "changes" && Array.isArray(changes) && changes.every(isChange) ? { kind, changes } : undefined;
}

function isChange(value: unknown): value is SourceChange {
  const { kind, path } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return kind === "lost" || (["changed", "appeared", "gone"].includes(kind as string) && typeof path === "string");
}

export interface WatchLeader {
  /** Changes that are not published yet. */
  readonly pending: number;
  stateOf(path: string): number;
  /** Tells everyone that the watch is armed, now or once it is. */
  answer(): void;
  /** Whether the watch has been armed. */
  readonly wasArmed: boolean;
  /** Resolves when another instance may lead. Rejects with the reason if the source cannot be watched, or its backend not be reached. */
  readonly over: Promise<void>;
}

interface LeadOptions {
  readonly source: Source;
  readonly mount: string;
  readonly topic: string;
  readonly lease: HeldLease;
  readonly bus: Bus;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  readonly signal: AbortSignal;
}

/** Changes that wait: with more, everything is read again. */
const maxWaiting = 10_000;
const maxInMessage = 500;
/** Characters of paths in one message: far below the largest body, whatever must be escaped. */
const maxPathsInMessage = 40_000;
const idleMs = 60_000;
/** How long the backend may be away before another instance may try. */
const longestAwayMs = 30_000;
const lookMs = 10_000;

export function leadWatch({ source, mount, topic, lease, bus, runtime, signal }: LeadOptions): WatchLeader {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, lease.signal, stop.signal]);
  const waker = createWaker(runtime.wait);
  let watch: SourceWatch | undefined;
  let waiting: SourceChange[] = [];
  let sending = 0;
  /** Whether all must be told that changes may have been missed. A new leader does not know what the one before it missed. */
  let isMissed = true;
  let isAsked = false;

  function add(change: SourceChange): void {
    if (waiting.length >= maxWaiting) {
      waiting = [];
      isMissed = true;
    } else waiting.push(change);
    waker.wake();
  }

  function nextMessage(): WatchMessage | undefined {
    if (isMissed) {
      // What happened until now is covered by it; what happens from now on follows.
      waiting = [];
      isMissed = isAsked = false;
      return { kind: "armed", isNew: true };
    }
    if (waiting.length > 0) return { kind: "changes", changes: waiting.splice(0, fitting(waiting)) };
    if (!isAsked) return undefined;
    isAsked = false;
    return { kind: "armed" };
  }

  async function keepPublishing(): Promise<void> {
    const backoff = createBackoff({ firstMs: 200, longestMs: 5000, steadyMs: 0, now: () => runtime.monotonicMs() });
    let isLogged = false;
    while (!until.aborted) {
      const body = nextMessage();
      if (!body) {
        await waker.wait(idleMs, until);
        continue;
      }
      sending = body.kind === "changes" ? body.changes.length : 1;
      try {
        await bus.publish({ topic, body, fence: lease.fence });
        backoff.begun();
        isLogged = false;
      } catch (cause) {
        if (until.aborted) return;
        const error = toResourceError(cause);
        // Another instance leads.
        if (error.kind === "denied") return;
        // It is not known what was delivered.
        isMissed = true;
        if (!isLogged) runtime.log("warn", "changes cannot be published, trying again", { mount, cause: error });
        isLogged = true;
        await runtime.wait(retryAfterOf(cause) ?? backoff.ended(), until).catch(() => undefined);
      } finally {
        sending = 0;
      }
    }
  }

  /** Resolves with the reason when the backend has been away for too long: only two attempts that failed show that. */
  async function untilAway(opened: SourceWatch): Promise<ResourceError> {
    let first: ResourceError | undefined;
    let sinceMs = 0;
    for (;;) {
      await runtime.wait(lookMs, until);
      const { failure } = opened;
      if (!failure || !first) {
        first = failure;
        sinceMs = runtime.monotonicMs();
      } else if (failure !== first && runtime.monotonicMs() - sinceMs >= longestAwayMs) return failure;
    }
  }

  async function keepWatching(): Promise<void> {
    const opened = await source.watch?.({ caller: serverCaller, signal: until });
    if (!opened || until.aborted) return;
    watch = opened;
    void keepPublishing().finally(() => stop.abort());
    let away: ResourceError | undefined;
    untilAway(opened).then(
      (failure) => {
        away = failure;
        stop.abort();
      },
      () => undefined,
    );
    try {
      for await (const change of opened) {
        if (until.aborted) break;
        add(change);
      }
      if (away) throw unavailable("the backend could not be reached for some time; another instance may watch", away);
      if (!until.aborted) throw unavailable("the watch of the source ended; it is started again");
    } finally {
      stop.abort();
    }
  }

  const over = keepWatching().catch((cause: unknown) => {
    // The source may fail because it was stopped.
    if (!signal.aborted && !lease.signal.aborted) throw cause as ResourceError;
  });
  return {
    get pending() {
      return (watch?.pending ?? 0) + waiting.length + sending;
    },
    get wasArmed() {
      return watch !== undefined;
    },
    stateOf: (path) => watch?.stateOf?.(path) ?? 0,
    answer() {
      isAsked = true;
      waker.wake();
    },
    over,
  };
}

/** How many of the changes fit into one message. */
function fitting(changes: readonly SourceChange[]): number {
  let length = 0;
  const beyond = changes.findIndex((change, index) => {
    length += change.kind === "lost" ? 0 : change.path.length;
    return index > 0 && (index === maxInMessage || length > maxPathsInMessage);
  });
  return beyond === -1 ? changes.length : beyond;
}
