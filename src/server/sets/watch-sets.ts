/** Watches on sets: each is announced when something in it changes, comes or goes that this very caller may see. */
import { createCoalescingQueue } from "../../lib/coalescing-queue.ts";
import type { Call, Caller, Change, Resources, Watch, WatchFilter } from "../../resources.ts";
import type { Sets } from "../sets.ts";

/** Something to be told of that the house behind does not know. */
export interface Spot {
  /** Equal keys are the same thing. */
  readonly key: string;
  readonly change: Change;
  /** Undefined where nothing is there. */
  look(call: Call): Promise<Seen | undefined>;
}

export interface Seen {
  /** Another mark means that it is another than before. */
  readonly mark: string;
  /** Whose changes are its own; it is looked at again when something comes or goes. Without them only sets are listened to. */
  readonly uris?: readonly string[];
}

export interface SpotsAsk {
  /** What the house behind is asked to watch. */
  readonly filter: WatchFilter;
  /** All URIs that were asked for, as the caller named them. */
  readonly order: readonly string[];
  readonly spots: readonly Spot[];
}

/** A spot that is watched for all who ask for it as the same caller: they see the same. */
interface Ear {
  readonly hearers: Set<() => void>;
  readonly stop: AbortController;
  /** False where nothing is there to be watched. */
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

    /** The house behind ends with the call's signal, and everything with it. */
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
  const lookout = createLookout(
    () => spot.look(call),
    async (seen) => {
      tell();
      await listen(seen?.uris ?? []);
    },
  );

  /** What comes and goes is heard by way of the list. */
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
        else lookout.again();
      }
    } catch {
      // What was missed is not known, so they are to look again.
      tell();
    }
  }

  sets.follow(lookout.again, call.signal);
  const first = await spot.look(call);
  if (!first) return false;
  if (first.uris === undefined) {
    await lookout.begin();
    return true;
  }
  await listen(first.uris);
  // Looked at once more behind the watch, so that nothing falls between.
  const begun = await lookout.begin();
  if (begun && begun.mark !== first.mark) await listen(begun.uris ?? []);
  return begun !== undefined;
}

interface Lookout {
  /** What is there now; from here on, others are told of. */
  begin(): Promise<Seen | undefined>;
  /** Something may have changed. */
  again(): void;
}

/** Looks again when told to, one look after the other, and says when there is another mark. */
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
        // The question was withdrawn, or cannot be answered now: whoever tells of the next change asks again.
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
