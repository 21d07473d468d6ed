/** A house that can be furnished anew while it is open: questions go to the one of now, and watches move along. */
import { notFound } from "../errors.ts";
import type { Call, Change, Resources, Watch, WatchFilter } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { CoalescingQueue } from "../lib/coalescing-queue.ts";

/** How the house is furnished at one time. */
export interface ResourcesBuild {
  readonly resources: Resources;
  /** What answers for this URI: the same object for as long as the answer comes from the same place. */
  answersFor(uri: string): unknown;
  /** Ends its watches. Called when every watch has moved on, and has heard all that this one had still to say. */
  close(): Promise<void>;
}

export interface ReloadableResources extends Resources {
  /**
   * Questions asked from now on go to the new furnishing. Resolves when every watch has moved along: none misses a change, all
   * that asked for it hear that the list changed, and each URI that is answered from another place is announced.
   */
  swap(next: ResourcesBuild): Promise<void>;
  /** Ends every watch, and the furnishing. */
  close(): Promise<void>;
}

/** A caller's watch, which outlives the furnishing it was asked of. */
interface Held {
  readonly call: Call;
  readonly reader: CoalescingQueue<Change>;
  readonly ended: AbortController;
  filter: WatchFilter;
  stay: Stay | undefined;
  /** Where it was before, as long as something may still be heard there. */
  readonly past: Set<Stay>;
  /** Moves are made one after the other. */
  moved: Promise<void>;
}

/** What a watch holds of one furnishing. */
interface Stay {
  readonly at: ResourcesBuild;
  readonly uris: readonly string[];
  readonly leave: AbortController;
}

/** What changed just before is held back for so long at most, until it has been quiet: it is heard where it was seen. */
const lingerMs = 1500;
/** So many watches move at a time. */
const movesAtOnce = 16;
const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);

export function createReloadableResources(
  first: ResourcesBuild,
  { log, wait }: Pick<Runtime, "log" | "wait">,
): ReloadableResources {
  const held = new Set<Held>();
  const leaving = new Set<Promise<void>>();
  const closing = new AbortController();
  let current = first;
  let swapping: Promise<void> = Promise.resolve();

  /** Armed at the furnishing of now, also if that changes meanwhile. */
  async function settle(watch: Held): Promise<Stay> {
    for (;;) {
      const at = current;
      const leave = new AbortController();
      const { caller } = watch.call;
      const stop = () => leave.abort();
      watch.ended.signal.addEventListener("abort", stop, { once: true });
      leave.signal.addEventListener("abort", () => watch.ended.signal.removeEventListener("abort", stop), {
        once: true,
      });
      if (watch.ended.signal.aborted) stop();
      try {
        const changes = await at.resources.watch(watch.filter, { caller, signal: leave.signal });
        if (at === current) {
          void pump(changes, watch);
          return { at, uris: changes.uris, leave };
        }
      } catch (cause) {
        if (at === current || watch.ended.signal.aborted) throw cause;
      }
      stop();
    }
  }

  async function pump(changes: Watch, { reader }: Held): Promise<void> {
    try {
      for await (const change of changes) reader.push(change);
    } catch (cause) {
      // What was missed is not known, so they are to look again.
      log("error", "a watch ended unasked", { cause });
      reader.push(listChanged);
    }
  }

  async function move(watch: Held): Promise<void> {
    const before = watch.stay;
    if (before === undefined || before.at === current || watch.ended.signal.aborted) return;
    const stay = await settle(watch);
    watch.stay = stay;
    watch.past.add(before);
    if (watch.filter.list) watch.reader.push(listChanged);
    for (const uri of watch.filter.uris ?? [])
      if (before.at.answersFor(uri) !== stay.at.answersFor(uri)) watch.reader.push({ kind: "updated", uri });
    const absent = (watch.filter.uris ?? []).filter((uri) => !stay.uris.includes(uri));
    if (absent.length > 0) void awaitReturn(watch, stay, absent);
  }

  /** What the caller watches and is not there just now is watched again as soon as it is. */
  async function awaitReturn(watch: Held, { at, leave }: Stay, absent: readonly string[]): Promise<void> {
    const call: Call = { caller: watch.call.caller, signal: leave.signal };
    let missing = absent;
    async function look(): Promise<void> {
      const back = await at.resources.watch({ uris: missing }, call);
      void pump(back, watch);
      for (const uri of back.uris) watch.reader.push({ kind: "updated", uri });
      missing = missing.filter((uri) => !back.uris.includes(uri));
    }
    try {
      const changes = await at.resources.watch({ list: true }, call);
      // It may have come back before the list was watched.
      await look();
      for await (const _ of changes) {
        if (missing.length > 0) await look();
        if (missing.length === 0) return;
      }
    } catch {
      // The stay is over; the next one looks again.
    }
  }

  async function moveAll(): Promise<void> {
    const waiting = [...held];
    async function next(): Promise<void> {
      for (let watch = waiting.pop(); watch; watch = waiting.pop()) {
        const each = watch;
        each.moved = each.moved
          .then(() => move(each))
          .catch((cause: unknown) => {
            if (!each.ended.signal.aborted) log("error", "a watch could not move to the new config", { cause });
          });
        await each.moved;
      }
    }
    await Promise.all(Array.from({ length: movesAtOnce }, next));
  }

  /** The watches have moved on already. */
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
      const { uris } = watch.stay;
      // What was left out now is not promised later either.
      watch.filter = { ...filter, uris };
      return toWatch(uris, watch);
    },

    swap(next) {
      const before = current;
      current = next;
      swapping = swapping.then(moveAll);
      const left = swapping.then(() => depart(before)).finally(() => leaving.delete(left));
      leaving.add(left);
      return swapping;
    },

    async close() {
      closing.abort();
      for (const { ended } of held) ended.abort();
      await Promise.all([swapping, ...leaving]);
      await current.close();
    },
  };
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
