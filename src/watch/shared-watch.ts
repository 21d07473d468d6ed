/** Shares the watch of a source between instances: one of them watches, all of them report what it saw. */
import { randomUUID } from "node:crypto";
import { cancelled, type ResourceError, retryAfterOf, toResourceError } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { type CoalescingQueue, createCoalescingQueue } from "../lib/coalescing-queue.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import { withMembers } from "../lib/with-members.ts";
import { wrapSource } from "../layer.ts";
import { type Call, serverCaller } from "../resources.ts";
import type { Runtime, Source, SourceChange, SourceWatch } from "../source.ts";
import type { Bus, BusMessage } from "../state/bus.ts";
import type { Leases } from "../state/leases.ts";
import { isWatchShared } from "./is-watch-shared.ts";
import { leadWatch, parseWatchMessage, type WatchLeader } from "./lead-watch.ts";

export interface ShareWatchOptions {
  /** Name of the mount. */
  readonly mount: string;
  readonly bus: Bus;
  readonly leases: Leases;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** How long `watch` waits to hear from a leader. After that it resolves, and "lost" follows once a leader has armed its watch. */
  readonly armMs?: number;
  /** How often an instance with listeners says so: a leader without listeners of its own continues for the others. */
  readonly presenceMs?: number;
}

interface Listener {
  readonly queue: CoalescingQueue<SourceChange>;
  readonly armed: PromiseWithResolvers<void>;
  /** Whether `watch` has promised that nothing is missed. */
  isArmed: boolean;
  /** Whether it has done so before the bus was connected. */
  isOwed: boolean;
}

/** From the first listener of this instance until it neither listens nor leads. */
interface Run {
  readonly ending: AbortController;
  readonly listeners: Set<Listener>;
  isSubscribed: boolean;
  leader?: WatchLeader;
  /** When another instance last said that it listens. */
  othersMs: number;
  /** In order, while the source notes what they are about. */
  received: Delivery[];
  /** How many changes the source notes now. */
  noting: number;
}

/** Something for the listeners, and the changes that the source must know of first. */
interface Delivery {
  readonly changes: readonly SourceChange[];
  deliver(): void;
}

const lost: SourceChange = { kind: "lost" };
const maxQueued = 10_000;
const askAgainMs = 500;
/** Listeners wait no longer for the source. */
const longestNoteMs = 5000;
const leadAgainMs = 500;
/** An instance that could not watch lets others try first: they look for a free lease every second. */
const firstRestMs = 2000;
const longestRestMs = 30_000;

/** A source whose watch is not shared is returned unchanged. */
export function shareWatch(source: Source, options: ShareWatchOptions): Source {
  if (!isWatchShared(source)) return source;
  const { mount, bus, leases, runtime, armMs = 3000, presenceMs = 60_000 } = options;
  const topic = `mount:${mount}`;
  const presenceTopic = `listeners:${mount}`;
  const own = randomUUID();
  const whole = wrapSource(source, (_operation, method) => method);
  const running = new Set<Promise<unknown>>();
  let run: Run | undefined;
  let isClosed = false;
  /** Whether the log says that this instance cannot watch. */
  let isReported = false;

  function begin(): Run {
    const started: Run = {
      ending: new AbortController(),
      listeners: new Set(),
      isSubscribed: false,
      othersMs: -Infinity,
      received: [],
      noting: 0,
    };
    const tasks = [receive, compete, stayPresent, endWhenUnused].map((task) =>
      task(started).catch((cause: unknown) => fail(started, cause)),
    );
    const over = Promise.all(tasks).finally(() => running.delete(over));
    running.add(over);
    return started;
  }

  async function receive(of: Run): Promise<void> {
    const { listeners, ending } = of;
    let isCurrent = false;
    /** Nobody has told the source what was published before this instance received messages. */
    const begun = (): void => {
      if (!isCurrent) passOn(of, [lost], () => undefined);
      isCurrent = true;
    };
    const miss = (): void =>
      passOn(of, [lost], () => {
        for (const { queue, isArmed } of listeners) if (isArmed) queue.push(lost);
      });
    const arm = (): void =>
      passOn(of, [], () => {
        for (const listener of listeners) {
          listener.isArmed = true;
          listener.armed.resolve();
        }
      });
    const message = ({ body }: BusMessage): void => {
      begun();
      const received = parseWatchMessage(body);
      if (!received) return miss();
      if (received.kind === "changes") {
        const { changes } = received;
        passOn(of, changes, () => {
          for (const { queue } of listeners) queue.pushAll(changes);
        });
      } else if (received.isNew) {
        if (isReported) runtime.log("info", "the mount is watched again", { mount });
        isReported = false;
        miss();
        // A new leader must know that it is needed.
        if (listeners.size > 0) void say(false);
      }
      arm();
    };
    await bus.subscribe(topic, { message, gap: miss }, ending.signal);
    begun();
    for (const { queue, isOwed } of listeners) if (isOwed) queue.push(lost);
    of.isSubscribed = true;
  }

  /** First to the source, then to the listeners: they read at once, and hear of a change only once. */
  function passOn(of: Run, changes: readonly SourceChange[], deliver: () => void): void {
    if (!whole.noteChanges) return deliver();
    of.received.push({ changes, deliver });
    if (of.received.length === 1) void noteReceived(of);
  }

  async function noteReceived(of: Run): Promise<void> {
    while (of.received.length > 0) {
      const changes = of.received.flatMap((each) => each.changes);
      const count = of.received.length;
      of.noting = changes.length;
      if (changes.length > 0) await note(of, changes);
      of.noting = 0;
      for (const { deliver } of of.received.slice(0, count)) deliver();
      of.received.splice(0, count);
    }
  }

  /** Resolves when the source has noted them, or after a while: then listeners are told once more. */
  async function note({ listeners, ending: { signal } }: Run, changes: readonly SourceChange[]): Promise<void> {
    const enough = new AbortController();
    const noted = noteChanges(changes, signal);
    const isNoted = await Promise.race([
      noted.then(() => true),
      runtime.wait(longestNoteMs, AbortSignal.any([signal, enough.signal])).then(
        () => false,
        () => true,
      ),
    ]);
    enough.abort();
    if (isNoted) return;
    void noted.then(() => {
      for (const { queue, isArmed } of listeners) if (isArmed) queue.push(lost);
    });
  }

  async function noteChanges(changes: readonly SourceChange[], signal: AbortSignal): Promise<void> {
    try {
      await whole.noteChanges?.(changes, { caller: serverCaller, signal });
    } catch (cause) {
      runtime.log("warn", "a source could not note the changes that another instance reported", { mount, cause });
    }
  }

  /** Every instance with listeners competes, so that one of them always leads. */
  async function compete(of: Run): Promise<void> {
    const { signal } = of.ending;
    const backoff = createBackoff({
      firstMs: firstRestMs,
      longestMs: longestRestMs,
      steadyMs: 0,
      now: () => runtime.monotonicMs(),
    });
    while (!signal.aborted) {
      const lease = await leases.acquire(`watch:${mount}`, signal);
      const leading = new AbortController();
      const until = AbortSignal.any([signal, leading.signal]);
      const leader = (of.leader = leadWatch({ source, mount, topic, lease, bus, runtime, signal: until }));
      let restMs = leadAgainMs;
      try {
        void answerOthers(of, leader, until);
        await leader.over;
      } catch (cause) {
        const failure = toResourceError(cause);
        if (!failure.passing && failure.kind !== "busy") throw cause;
        if (leader.wasArmed) backoff.begun();
        restMs = Math.max(retryAfterOf(cause) ?? 0, backoff.ended());
        cannotLead(of, failure, restMs);
      } finally {
        delete of.leader;
        leading.abort();
        await lease.release().catch(() => undefined);
      }
      // The engine refused what it should accept, if the lease was not lost: not at full speed.
      if (!signal.aborted) await runtime.wait(restMs, signal);
    }
  }

  /** This instance cannot watch now. Who listens here continues to hear from another one, or from this one later. */
  function cannotLead({ listeners }: Run, failure: ResourceError, restMs: number): void {
    for (const { queue, armed, isArmed } of listeners) {
      if (isArmed) continue;
      armed.reject(failure);
      queue.end(failure);
    }
    if (isReported || ![...listeners].some(({ isArmed }) => isArmed)) return;
    isReported = true;
    const message = "this instance cannot watch the mount now; another one may, or this one later";
    runtime.log("warn", message, { mount, delayMs: restMs, cause: failure });
  }

  async function answerOthers(of: Run, leader: WatchLeader, signal: AbortSignal): Promise<void> {
    const message = ({ body }: BusMessage): void => {
      const { from, isAsking } = (body ?? {}) as Partial<PresenceMessage>;
      if (from !== own) of.othersMs = runtime.monotonicMs();
      if (isAsking) leader.answer();
    };
    // After a gap someone may have asked.
    await bus.subscribe(presenceTopic, { message, gap: () => leader.answer() }, signal).catch(() => undefined);
    leader.answer();
  }

  async function stayPresent({ listeners, ending: { signal } }: Run): Promise<void> {
    for (;;) {
      await runtime.wait(presenceMs, signal);
      if (listeners.size > 0) await say(false);
    }
  }

  /** A failure is repeated later, or its consequence is "lost". */
  async function say(isAsking: boolean): Promise<void> {
    const body: PresenceMessage = { from: own, isAsking };
    await bus.publish({ topic: presenceTopic, body, fence: 0 }).catch(() => undefined);
  }

  /** A leader without listeners of its own continues while others listen. */
  async function endWhenUnused(of: Run): Promise<void> {
    const { signal } = of.ending;
    for (;;) {
      await runtime.wait(presenceMs, signal);
      if (of.listeners.size === 0 && !isNeeded(of)) end(of);
    }
  }

  function isNeeded({ leader, othersMs }: Run): boolean {
    return leader !== undefined && runtime.monotonicMs() - othersMs < presenceMs * 2.5;
  }

  function end(ended: Run): void {
    if (run === ended) run = undefined;
    ended.ending.abort();
  }

  function fail(failed: Run, cause: unknown): void {
    if (failed.ending.signal.aborted) return;
    const failure = toResourceError(cause);
    for (const { queue, armed } of failed.listeners) {
      armed.reject(failure);
      queue.end(failure);
    }
    end(failed);
  }

  async function askUntilArmed({ armed }: Listener, signal: AbortSignal): Promise<void> {
    const enough = new AbortController();
    const until = AbortSignal.any([signal, enough.signal]);
    const asking = (async () => {
      while (!until.aborted) {
        void say(true);
        await runtime.wait(askAgainMs, until);
      }
    })().catch(() => undefined);
    try {
      await Promise.race([unlessAborted(armed.promise, signal, cancelled), runtime.wait(armMs, until)]);
    } finally {
      enough.abort();
      await asking;
    }
  }

  async function watch(call: Call): Promise<SourceWatch> {
    const { signal } = call;
    // What a single caller may know is not for others.
    if (call.caller !== serverCaller || !source.watch) return (whole.watch as NonNullable<Source["watch"]>)(call);
    const leave = (): void => {
      signal.removeEventListener("abort", leave);
      listener.queue.end();
      if (!current.listeners.delete(listener)) return;
      if (current.listeners.size === 0 && !isNeeded(current)) end(current);
    };
    const listener: Listener = {
      // Changes of one path are merged later, by their order: every one of them waits.
      queue: createCoalescingQueue<SourceChange>(() => ({}), { max: maxQueued, overflow: lost }, leave),
      armed: Promise.withResolvers(),
      isArmed: false,
      isOwed: false,
    };
    if (isClosed || signal.aborted) {
      listener.queue.end();
      return toWatch(listener.queue, undefined);
    }
    listener.armed.promise.catch(() => undefined);
    const current = (run ??= begin());
    current.listeners.add(listener);
    signal.addEventListener("abort", leave, { once: true });
    try {
      await askUntilArmed(listener, signal);
    } catch (cause) {
      leave();
      if (!signal.aborted) throw cause;
    }
    if (!listener.isArmed) listener.isOwed = !current.isSubscribed;
    listener.isArmed = true;
    return toWatch(listener.queue, current);
  }

  return withMembers(whole, {
    watch,
    async close() {
      isClosed = true;
      if (run) {
        for (const { queue, armed } of run.listeners) {
          queue.end();
          armed.resolve();
        }
        end(run);
      }
      await Promise.all(running);
      await source.close?.();
    },
  });
}

/** Published by instances with listeners. */
interface PresenceMessage {
  readonly from: string;
  /** Whether the leader should say that its watch is armed. */
  readonly isAsking: boolean;
}

function toWatch(queue: CoalescingQueue<SourceChange>, run: Run | undefined): SourceWatch {
  return {
    [Symbol.asyncIterator]: () => queue,
    get pending() {
      return queue.size + (run?.noting ?? 0) + (run?.leader?.pending ?? 0);
    },
    // Only the instance that watches the source knows.
    stateOf: (path) => run?.leader?.stateOf(path) ?? 0,
  };
}
