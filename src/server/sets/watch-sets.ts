/** Watches sets: a set is announced when a member that the caller may see changes, appears or disappears. */
import { createCoalescingQueue } from "../../lib/coalescing-queue.ts";
import type { Call, Caller, Change, Resources, Watch, WatchFilter } from "../../resources.ts";
import type { Sets } from "../sets.ts";

/** Something to watch that the inner resources do not know. */
export interface Spot {
  /** Equal keys mean the same spot. */
  readonly key: string;
  readonly change: Change;
  /** Undefined if it does not exist. */
  look(call: Call): Promise<Seen | undefined>;
}

export interface Seen {
  /** A different mark means that it changed. */
  readonly mark: string;
  /** URIs whose changes count as its own; it is checked again when the list changes. Without URIs only sets are watched. */
  readonly uris?: readonly string[];
}

export interface SpotsAsk {
  /** Filter for the inner resources. */
  readonly filter: WatchFilter;
  /** All requested URIs, as the caller wrote them. */
  readonly order: readonly string[];
  readonly spots: readonly Spot[];
}

/** A watch of one spot, shared by all watches of the same caller. */
interface Ear {
  readonly hearers: Set<() => void>;
  readonly stop: AbortController;
  /** False if there is nothing to watch. */
  readonly armed: Promise<boolean>;
}

const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);

/** Resolves once everything is armed. */
export function createSpotWatch(inner: Resources, sets: Sets): (ask: SpotsAsk, call: Call) => Promise<Watch> {
  const ears = new Map<string, Ear>();

  function earFor(spot: Spot, caller: Caller): Ear & { readonly leave: (hear: () => void) => void } {
    const key = JSON.stringify([caller.id, spot.key]);
    let ear = ears.get(key);
    if (!ear) {
      const hearers = new Set<() => void>();
      const stop = new AbortController();
      const tell = () => {
        for (const hear of hearers) hear();
      };
      ear = { hearers, stop, armed: arm(spot, { inner, sets, tell }, { caller, signal: stop.signal }) };
      ears.set(key, ear);
    }
    const { hearers, stop } = ear;
    return {
      ...ear,
      leave(hear) {
        hearers.delete(hear);
        if (hearers.size > 0) return;
        stop.abort();
        if (ears.get(key)?.hearers === hearers) ears.delete(key);
      },
    };
  }

  return async ({ filter, order, spots }, call) => {
    const reader = createCoalescingQueue<Change>(keyOf);
    const rest = await inner.watch(filter, call);
    const iterator = rest[Symbol.asyncIterator]();
    const leaves: (() => void)[] = [];
    let failure: { readonly cause: unknown } | undefined;

    function end(): void {
      for (const leave of leaves.splice(0)) leave();
      void iterator.return?.();
      void reader.return();
    }

    /** The inner watch ends with the call's signal, and so does everything else. */
    async function pump(): Promise<void> {
      try {
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) reader.push(next.value);
      } catch (cause) {
        failure = { cause };
      }
      end();
    }
    void pump();

    async function join(spot: Spot): Promise<boolean> {
      const ear = earFor(spot, call.caller);
      const hear = () => reader.push(spot.change);
      ear.hearers.add(hear);
      const isThere = await ear.armed.catch((cause: unknown) => {
        ear.leave(hear);
        throw cause;
      });
      if (isThere && !call.signal.aborted) leaves.push(() => ear.leave(hear));
      else ear.leave(hear);
      return isThere;
    }

    const joined = await Promise.all(spots.map(join)).catch((cause: unknown) => {
      end();
      throw cause;
    });
    const watched = new Set(rest.uris);
    for (const [index, { change }] of spots.entries())
      if (joined[index] && change.kind === "updated") watched.add(change.uri);
    return {
      uris: order.filter((uri) => watched.has(uri)),
      [Symbol.asyncIterator]: () => ({
        async next() {
          const next = await reader.next();
          if (next.done && failure) throw failure.cause;
          return next;
        },
        return() {
          end();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  };
}

async function arm(
  spot: Spot,
  { inner, sets, tell }: { readonly inner: Resources; readonly sets: Sets; readonly tell: () => void },
  call: Call,
): Promise<boolean> {
  let leave: AbortController | undefined;
  const checker = createLookout(
    () => spot.look(call),
    async (seen) => {
      tell();
      await listen(seen?.uris ?? []);
    },
  );

  /** Members that appear or disappear are noticed through the list. */
  async function listen(uris: readonly string[]): Promise<void> {
    const before = leave;
    const stay = new AbortController();
    leave = stay;
    const signal = AbortSignal.any([call.signal, stay.signal]);
    const watch = await inner.watch({ uris, list: true }, { caller: call.caller, signal });
    before?.abort();
    void hear(watch);
  }

  async function hear(watch: Watch): Promise<void> {
    try {
      for await (const change of watch) {
        if (change.kind === "updated") tell();
        else checker.again();
      }
    } catch {
      // Unknown changes were missed, so callers must read again.
      tell();
    }
  }

  sets.follow(checker.again, call.signal);
  const first = await spot.look(call);
  if (!first) return false;
  if (first.uris === undefined) {
    await checker.begin();
    return true;
  }
  await listen(first.uris);
  // Checked once more after the watch is armed, so that no change is missed.
  const begun = await checker.begin();
  if (begun && begun.mark !== first.mark) await listen(begun.uris ?? []);
  return begun !== undefined;
}

interface Lookout {
  /** Returns the current state; later changes are reported. */
  begin(): Promise<Seen | undefined>;
  /** Something may have changed. */
  again(): void;
}

/** Checks again on request, one check at a time, and reports a changed mark. */
function createLookout(
  look: () => Promise<Seen | undefined>,
  changed: (seen: Seen | undefined) => Promise<void>,
): Lookout {
  let mark: string | undefined;
  let isBusy = true;
  let isWanted = false;

  async function go(): Promise<void> {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      try {
        const seen = await look();
        if (seen?.mark === mark) continue;
        mark = seen?.mark;
        await changed(seen);
      } catch {
        // Cancelled, or currently unavailable: the next change checks again.
      }
    }
    isBusy = false;
  }

  return {
    async begin() {
      const seen = await look();
      mark = seen?.mark;
      void go();
      return seen;
    },
    again() {
      isWanted = true;
      if (!isBusy) void go();
    },
  };
}
