/** Subscriptions of one session of the older revisions. */
import { notFound, ResourceError } from "../errors.ts";
import { inParallel } from "../lib/in-parallel.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { createWaker } from "../lib/waker.ts";
import type { Call } from "../resources.ts";
import type { ServerFeatures } from "./client-request.ts";
import { changeNotices, promptsChanged, toolsChanged } from "./notices.ts";
import type { Notice } from "./shape.ts";

export interface Subscriptions {
  /** Number of subscribed resources, including those that are not watched yet. */
  readonly size: number;
  /** Whether it is subscribed, or being subscribed. */
  has(uri: string): boolean;
  /** Starts to announce changes of the list. */
  followList(): void;
  /** Resolves when a list may be sent: every later change is announced. Waits only briefly for the watch. */
  listFollowed(): Promise<void>;
  /** The same for prompts and tools, if they may change. */
  followPrompts(): void;
  promptsFollowed(): Promise<void>;
  followTools(): void;
  toolsFollowed(): Promise<void>;
  /** Throws "not-found" if it cannot be read. Subscribing twice counts once. Dropped if all requests are cancelled before it is armed. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  unsubscribe(uri: string): void | Promise<void>;
  /**
   * Subscribes to exactly these. Returns those that were not subscribed before. Also those that cannot be watched now are subscribed: each is
   * tried again, and announced when it is watched.
   */
  replaceAll(uris: readonly string[]): Promise<readonly string[]>;
  close(): void;
}

interface Subscription {
  readonly stop: AbortController;
  readonly armed: Promise<void>;
  /** Number of requests that wait until it is armed. */
  askers: number;
  /** Whether at least one of them was not cancelled. */
  isKept: boolean;
}

/** Maximum per session: each uses memory. */
const maxSubscriptions = 50_000;

/** Maximum delay of a list while its watch is being armed. */
const maxArmMs = 1000;

/** Number of subscriptions that are armed concurrently. */
const armedAtOnce = 16;

/** Delays between attempts to watch what could not be watched. */
const firstRetryMs = 1000;
const longestRetryMs = 30_000;

/** Number of subscriptions in one attempt: as many as the watch quota permits in a second. */
const maxRetried = 50;

export function createSessionSubscriptions(
  { resources, prompts, moreTools, watchQuota, quotas, observer, wait }: ServerFeatures,
  { caller, client }: Pick<Required<Call>, "caller" | "client">,
  announce: (notice: Notice) => void | Promise<void>,
): Subscriptions {
  const held = new Map<string, Subscription>();
  /** Resources of `replaceAll` that are not watched yet, with the number of failed attempts. The latest attempt is the last. */
  const unwatched = new Map<string, number>();
  const retryWaker = createWaker(wait);
  let isRetrying = false;
  const listening = new AbortController();
  const list = createFollowed({ kind: "list-changed" });
  const promptList = createFollowed(promptsChanged);
  const toolList = createFollowed(toolsChanged);
  let closed = false;

  async function pump(notices: AsyncIterable<Notice> | Iterable<Notice>): Promise<void> {
    for await (const notice of notices) {
      // A missing resource may be back.
      if (isRetrying && notice.kind === "list-changed") retryWaker.wake();
      await announce(notice);
    }
  }

  function begin(notices: AsyncIterable<Notice> | Iterable<Notice>): void {
    // Ends with its signal; if the reader is gone, the session is already closed.
    pump(notices).catch(() => undefined);
  }

  async function arm(uri: string, stop: AbortController): Promise<void> {
    const release = quotas?.listen(caller, 1);
    // Every subscription ends with its signal.
    if (release) stop.signal.addEventListener("abort", release, { once: true });
    await watchQuota.take(client, stop.signal);
    if (stop.signal.aborted) watchQuota.release(client);
    else stop.signal.addEventListener("abort", () => watchQuota.release(client), { once: true });
    const watch = await resources.watch({ uris: [uri] }, { caller, signal: stop.signal });
    if (watch.uris.length === 0) throw notFound(uri);
    begin(watch);
  }

  function hold(uri: string): Subscription {
    if (held.size >= maxSubscriptions) {
      throw new ResourceError("busy", `a session may have at most ${maxSubscriptions} subscriptions; end some first`);
    }
    const stop = new AbortController();
    const subscription: Subscription = { stop, armed: arm(uri, stop), askers: 0, isKept: false };
    held.set(uri, subscription);
    return subscription;
  }

  function createFollowed(changed: Notice) {
    let armed: Promise<unknown> | undefined;
    let isArmed = false;
    let isAnsweredBefore = false;
    return {
      follow(open: () => Promise<AsyncIterable<Notice>>): void {
        if (armed || closed) return;
        const watching = open().then(async (watch) => {
          isArmed = true;
          // Changes since the list was sent are unknown, so clients that have it must list again.
          if (isAnsweredBefore) await announce(changed);
          begin(watch);
        });
        armed = isDoneWithin(watching, maxArmMs).catch(() => undefined);
      },
      async answering(): Promise<void> {
        await armed;
        if (!isArmed) isAnsweredBefore = true;
      },
    };
  }

  async function subscribe(uri: string, signal: AbortSignal): Promise<void> {
    if (closed) throw new ResourceError("cancelled", "the session is closed");
    const subscription = held.get(uri) ?? hold(uri);
    subscription.askers += 1;
    try {
      await subscription.armed;
      if (!signal.aborted && !subscription.isKept) {
        subscription.isKept = true;
        // Another request may have ended it meanwhile.
        if (held.get(uri) === subscription) {
          observer?.watching?.(0, 1);
          const failures = unwatched.get(uri) ?? 0;
          unwatched.delete(uri);
          // It may have changed since the first attempt.
          if (failures > 0) begin([{ kind: "updated", uri }]);
        }
      }
    } finally {
      subscription.askers -= 1;
      if (subscription.askers === 0 && !subscription.isKept) {
        subscription.stop.abort();
        if (held.get(uri) === subscription) held.delete(uri);
      }
    }
  }

  /** Subscribes now, or as soon as that is possible. */
  async function restore(uri: string): Promise<void> {
    // Another request may have ended it meanwhile.
    if (!unwatched.has(uri)) return;
    try {
      await subscribe(uri, listening.signal);
    } catch {
      const failures = unwatched.get(uri);
      if (failures === undefined) return;
      unwatched.delete(uri);
      unwatched.set(uri, failures + 1);
    }
  }

  async function retry(): Promise<void> {
    if (isRetrying) return;
    isRetrying = true;
    let delayMs = firstRetryMs;
    while (unwatched.size > 0 && !listening.signal.aborted) {
      await retryWaker.wait(delayMs, listening.signal);
      const before = unwatched.size;
      await inParallel([...unwatched.keys()].slice(0, maxRetried), armedAtOnce, restore);
      delayMs = unwatched.size < before ? firstRetryMs : Math.min(delayMs * 2, longestRetryMs);
    }
    isRetrying = false;
  }

  function unsubscribe(uri: string): void {
    unwatched.delete(uri);
    const subscription = held.get(uri);
    if (!subscription) return;
    subscription.stop.abort();
    held.delete(uri);
    if (subscription.isKept) observer?.watching?.(0, -1);
  }

  return {
    get size() {
      let size = held.size;
      for (const uri of unwatched.keys()) if (!held.has(uri)) size += 1;
      return size;
    },
    has: (uri) => held.has(uri) || unwatched.has(uri),

    followList: () => list.follow(() => resources.watch({ list: true }, { caller, signal: listening.signal })),
    listFollowed: () => list.answering(),

    followPrompts() {
      if (!prompts?.watch) return;
      promptList.follow(() => changeNotices(prompts, promptsChanged, { caller, signal: listening.signal }));
    },
    promptsFollowed: () => promptList.answering(),

    followTools() {
      if (!moreTools?.watch) return;
      toolList.follow(() => changeNotices(moreTools, toolsChanged, { caller, signal: listening.signal }));
    },
    toolsFollowed: () => toolList.answering(),

    subscribe,
    unsubscribe,

    async replaceAll(uris) {
      if (closed) return [];
      const wanted = new Set(uris);
      for (const uri of [...held.keys(), ...unwatched.keys()]) if (!wanted.has(uri)) unsubscribe(uri);
      const added = [...wanted].filter((uri) => !held.has(uri) && !unwatched.has(uri));
      for (const uri of added) unwatched.set(uri, 0);
      await inParallel(added, armedAtOnce, restore);
      void retry();
      return added;
    },

    close() {
      closed = true;
      listening.abort();
      for (const { stop } of held.values()) stop.abort();
      observer?.watching?.(0, -[...held.values()].filter(({ isKept }) => isKept).length);
      held.clear();
      unwatched.clear();
    },
  };
}
