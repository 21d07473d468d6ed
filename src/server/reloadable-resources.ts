/** Resources that can be replaced while in use: new requests go to the new build, and watches move along. */
import { notFound, ResourceError, toResourceError } from "../errors.ts";
import type { Call, Change, Relayed, RelayedKind, Resources, Watch, WatchFilter } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { CoalescingQueue } from "../lib/coalescing-queue.ts";

/** One version of the resources. */
export interface ResourcesBuild {
  readonly resources: Resources;
  /** Identity of what serves this URI: equal objects mean the same origin. */
  answersFor(uri: string): unknown;
  /** Ends its watches. Called after every watch has moved and received its remaining changes. */
  close(): Promise<void>;
}

export interface ReloadableResources extends Resources {
  /**
   * New requests go to the new build. Resolves when every watch has moved: none misses a change, all that asked for it are told that
   * the list changed, and each URI with another origin is announced.
   */
  swap(next: ResourcesBuild): Promise<void>;
  /** Ends every watch, and the current build. */
  close(): Promise<void>;
}

/** A caller's watch, which outlives the build that it started on. */
interface Held {
  readonly call: Call;
  readonly reader: CoalescingQueue<Change>;
  readonly ended: AbortController;
  filter: WatchFilter;
  stay: Stay | undefined;
  /** Earlier stays that may still deliver changes. */
  readonly past: Set<Stay>;
  /** Moves run one after the other. */
  moved: Promise<void>;
}

/** What a watch holds in one build. */
interface Stay {
  readonly at: ResourcesBuild;
  readonly uris: readonly string[];
  readonly unwatched?: Watch["unwatched"];
  readonly leave: AbortController;
}

/** A caller's watch of tools and prompts. */
interface HeldRelayedWatch {
  readonly call: Call;
  readonly reader: CoalescingQueue<RelayedKind>;
  /** Ends the watch in the build where it is. */
  leave: AbortController | undefined;
}

/** Changes just before a swap are delivered by the old build, for at most this long. */
const lingerMs = 1500;
/** Number of watches that move concurrently. */
const movesAtOnce = 16;
/** Delays between attempts to watch what could not be watched. */
const firstRetryMs = 1000;
const longestRetryMs = 30_000;
const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);

export function createReloadableResources(
  first: ResourcesBuild,
  { log, wait }: Pick<Runtime, "log" | "wait">,
): ReloadableResources {
  const held = new Set<Held>();
  const relayedWatches = new Set<HeldRelayedWatch>();
  const leaving = new Set<Promise<void>>();
  const closing = new AbortController();
  /** Watches that could not move, for example because a source was away. They have missed changes. */
  const behind = new Set<Held>();
  let isRetrying = false;
  let current = first;
  let swapping: Promise<void> = Promise.resolve();

  /** Arms the watch in the current build, even if that changes meanwhile. */
  async function settle(watch: Held): Promise<Stay> {
    for (;;) {
      const at = current;
      const leave = leaveOf(watch);
      const { caller } = watch.call;
      try {
        const changes = await at.resources.watch(watch.filter, { caller, signal: leave.signal });
        if (at === current) {
          void pump(changes, watch);
          return { at, uris: changes.uris, unwatched: changes.unwatched, leave };
        }
      } catch (cause) {
        leave.abort();
        if (at === current || watch.ended.signal.aborted) throw cause;
      }
      leave.abort();
    }
  }

  async function pump(changes: Watch, { reader }: Held): Promise<void> {
    try {
      for await (const change of changes) reader.push(change);
    } catch (cause) {
      // Unknown changes were missed, so callers must read again.
      log("error", "a watch ended unexpectedly", { cause });
      reader.push(listChanged);
    }
  }

  async function move(watch: Held): Promise<void> {
    const before = watch.stay;
    if (before === undefined || before.at === current || watch.ended.signal.aborted) return;
    const stay = await settle(watch).catch((cause: unknown): Stay => {
      // The watch stays, for when its resources can be watched again.
      if (toResourceError(cause).kind !== "unsupported") throw cause;
      return { at: current, uris: [], leave: leaveOf(watch) };
    });
    watch.stay = stay;
    const isLate = behind.delete(watch);
    // The build of a late one has been closed.
    if (isLate) before.leave.abort();
    else watch.past.add(before);
    if (watch.filter.list) watch.reader.push(listChanged);
    for (const uri of watch.filter.uris ?? [])
      if (isLate || before.at.answersFor(uri) !== stay.at.answersFor(uri)) watch.reader.push({ kind: "updated", uri });
    const absent = (watch.filter.uris ?? []).filter((uri) => !stay.uris.includes(uri));
    if (absent.length > 0) void awaitReturn(watch, stay, absent);
  }

  /** Watches URIs that are currently missing again as soon as they exist. */
  async function awaitReturn(watch: Held, { at, leave }: Stay, absent: readonly string[]): Promise<void> {
    const call: Call = { caller: watch.call.caller, signal: leave.signal };
    let missing = absent;
    async function look(): Promise<void> {
      const back = await at.resources.watch({ uris: missing }, call);
      void pump(back, watch);
      for (const uri of back.uris) watch.reader.push({ kind: "updated", uri });
      missing = missing.filter((uri) => !back.uris.includes(uri));
    }
    for (let delayMs = firstRetryMs; !leave.signal.aborted; delayMs = Math.min(delayMs * 2, longestRetryMs)) {
      const attempt = new AbortController();
      try {
        const signal = AbortSignal.any([leave.signal, attempt.signal]);
        const changes = await at.resources.watch({ list: true }, { ...call, signal });
        // It may have returned before the list was watched.
        await look();
        for await (const _ of changes) {
          if (missing.length > 0) await look();
          if (missing.length === 0) return;
        }
      } catch {
        // Its source may be away. If the stay has ended, the next one looks again.
      } finally {
        attempt.abort();
      }
      await wait(delayMs, leave.signal).catch(() => undefined);
    }
  }

  async function moveAll(watches: Iterable<Held>): Promise<void> {
    const waiting = [...watches];
    async function next(): Promise<void> {
      for (let watch = waiting.pop(); watch; watch = waiting.pop()) {
        const each = watch;
        each.moved = each.moved
          .then(() => move(each))
          .catch((cause: unknown) => {
            if (each.ended.signal.aborted) return;
            if (!behind.has(each)) log("error", "a watch could not move to the new config yet", { cause });
            behind.add(each);
          });
        await each.moved;
      }
    }
    await Promise.all(Array.from({ length: movesAtOnce }, next));
    void retry();
  }

  async function retry(): Promise<void> {
    if (isRetrying) return;
    isRetrying = true;
    for (let delayMs = firstRetryMs; behind.size > 0 && !closing.signal.aborted;) {
      await wait(delayMs, closing.signal).catch(() => undefined);
      const before = behind.size;
      await moveAll(behind);
      delayMs = behind.size < before ? firstRetryMs : Math.min(delayMs * 2, longestRetryMs);
    }
    isRetrying = false;
  }

  /** Watches tools and prompts in the current build. Others may be visible there, so both lists count as changed. */
  async function settleRelayed(watch: HeldRelayedWatch, isMoving = false): Promise<void> {
    watch.leave?.abort();
    const leave = new AbortController();
    watch.leave = leave;
    const { relayed } = current.resources;
    try {
      const changes = await relayed?.watch({ caller: watch.call.caller, signal: leave.signal });
      if (changes) void pumpRelayed(changes, watch);
    } catch (cause) {
      if (!leave.signal.aborted) log("error", "a watch of tools and prompts failed", { cause });
    }
    if (isMoving) watch.reader.pushAll(["tools", "prompts"]);
  }

  /** Runs after all watches have moved. */
  async function depart(before: ResourcesBuild): Promise<void> {
    await wait(lingerMs, closing.signal).catch(() => undefined);
    for (const { past } of held)
      for (const stay of past)
        if (stay.at === before) {
          past.delete(stay);
          stay.leave.abort();
        }
    await before.close();
  }

  function begin(filter: WatchFilter, call: Call): Held {
    const ended = new AbortController();
    const watch: Held = {
      call,
      filter,
      ended,
      reader: createCoalescingQueue(keyOf),
      stay: undefined,
      past: new Set(),
      moved: Promise.resolve(),
    };
    const end = () => ended.abort();
    held.add(watch);
    ended.signal.addEventListener(
      "abort",
      () => {
        held.delete(watch);
        behind.delete(watch);
        void watch.reader.return();
        call.signal.removeEventListener("abort", end);
      },
      { once: true },
    );
    if (call.signal.aborted) end();
    else call.signal.addEventListener("abort", end, { once: true });
    return watch;
  }

  return {
    list: (ask, call) => current.resources.list(ask, call),
    children: (uri, ask, call) => current.resources.children(uri, ask, call),
    read: (uri, call) => current.resources.read(uri, call),
    templates: (ask, call) => current.resources.templates(ask, call),
    complete: (ask, call) => current.resources.complete(ask, call),
    stat: (uri, call) => current.resources.stat(uri, call),
    search: (ask, call) => current.resources.search(ask, call),
    async skills(ask, call) {
      return (await current.resources.skills?.(ask, call)) ?? { items: [] };
    },
    async skill(uri, call) {
      const answer = await current.resources.skill?.(uri, call);
      if (answer === undefined) throw notFound(uri);
      return answer;
    },
    async actions(call) {
      return (await current.resources.actions?.(call)) ?? [];
    },
    async act(what, input, call) {
      const acted = await current.resources.act?.(what, input, call);
      if (acted === undefined) throw notFound(what.mount);
      return acted;
    },
    relayed: {
      tools: async (call) => (await current.resources.relayed?.tools(call)) ?? [],
      prompts: async (call) => (await current.resources.relayed?.prompts(call)) ?? [],
      callTool: async (what, args, input, call) => relayedBy(current).callTool(what, args, input, call),
      getPrompt: async (what, args, input, call) => relayedBy(current).getPrompt(what, args, input, call),
      completePrompt: async (what, request, call) => relayedBy(current).completePrompt(what, request, call),
      async watch(call) {
        const watch: HeldRelayedWatch = { call, reader: createCoalescingQueue((kind) => kind), leave: undefined };
        if (call.signal.aborted) {
          void watch.reader.return();
          return watch.reader;
        }
        relayedWatches.add(watch);
        const end = () => {
          relayedWatches.delete(watch);
          watch.leave?.abort();
          void watch.reader.return();
        };
        call.signal.addEventListener("abort", end, { once: true });
        await settleRelayed(watch);
        return watch.reader;
      },
    },
    get listFreshness() {
      return current.resources.listFreshness;
    },

    async watch(filter, call) {
      const watch = begin(filter, call);
      try {
        watch.stay = await settle(watch);
      } catch (cause) {
        watch.ended.abort();
        throw cause;
      }
      const { uris, unwatched } = watch.stay;
      // URIs left out now are not watched later either.
      watch.filter = { ...filter, uris };
      return { ...toWatch(uris, watch), ...(unwatched && { unwatched }) };
    },

    swap(next) {
      const before = current;
      current = next;
      swapping = swapping.then(() => moveAll(held));
      for (const watch of relayedWatches) void settleRelayed(watch, true);
      const left = swapping.then(() => depart(before)).finally(() => leaving.delete(left));
      leaving.add(left);
      return swapping;
    },

    async close() {
      closing.abort();
      for (const { ended } of held) ended.abort();
      for (const { leave, reader } of relayedWatches) {
        leave?.abort();
        void reader.return();
      }
      await Promise.all([swapping, ...leaving]);
      await current.close();
    },
  };
}

/** Aborted when the watch ends, or leaves the build. */
function leaveOf({ ended }: Held): AbortController {
  const leave = new AbortController();
  const stop = () => leave.abort();
  ended.signal.addEventListener("abort", stop, { once: true });
  leave.signal.addEventListener("abort", () => ended.signal.removeEventListener("abort", stop), { once: true });
  if (ended.signal.aborted) stop();
  return leave;
}

async function pumpRelayed(changes: AsyncIterable<RelayedKind>, { reader }: HeldRelayedWatch): Promise<void> {
  for await (const kind of changes) reader.push(kind);
}

function relayedBy({ resources }: ResourcesBuild): Relayed {
  if (!resources.relayed) throw new ResourceError("not-found", "no tool or prompt of another server");
  return resources.relayed;
}

function toWatch(uris: readonly string[], { reader, ended }: Held): Watch {
  return {
    uris,
    [Symbol.asyncIterator]: () => ({
      next: () => reader.next(),
      return() {
        ended.abort();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
