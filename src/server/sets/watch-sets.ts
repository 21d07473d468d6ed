/** Watches on sets: each is announced when something in it changes, comes or goes that this very caller may see. */
import { createReader, type Reader } from "../../lib/reader.ts";
import type { Call, Change, Resources, Watch, WatchFilter } from "../../resources.ts";
import { toResourceError } from "../../errors.ts";
import type { Sets } from "../sets.ts";

/** A watched URI that the house behind does not know. */
export interface Spot {
  readonly uri: string;
  /** Another mark means that it is another than before; the URIs are those whose changes are its own. Undefined where nothing is there. */
  look(call: Call): Promise<{ readonly mark: string; readonly uris: readonly string[] } | undefined>;
}

export interface SpotsOptions {
  readonly inner: Resources;
  readonly sets: Sets;
  /** What the house behind is asked to watch. */
  readonly filter: WatchFilter;
  /** All URIs that were asked for, as the caller named them. */
  readonly order: readonly string[];
  readonly spots: readonly Spot[];
}

const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);

/** Resolves once everything is armed. */
export async function watchWithSpots({ inner, sets, filter, order, spots }: SpotsOptions, asked: Call): Promise<Watch> {
  const ended = new AbortController();
  const call: Call = { caller: asked.caller, signal: AbortSignal.any([asked.signal, ended.signal]) };
  const reader = createReader<Change>(keyOf);
  call.signal.addEventListener("abort", () => void reader.return(), { once: true });
  try {
    const rest = await inner.watch(filter, call);
    void pump(rest, (change) => reader.push(change), reader);
    if (filter.list) await followList(sets, call, () => reader.push(listChanged));
    const armed = await Promise.all(spots.map((spot) => arm(spot, { inner, sets, reader }, call)));
    const watched = new Set([...rest.uris, ...spots.filter((_, index) => armed[index]).map(({ uri }) => uri)]);
    return {
      uris: order.filter((uri) => watched.has(uri)),
      [Symbol.asyncIterator]: () => ({
        next: () => reader.next(),
        return() {
          ended.abort();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  } catch (cause) {
    ended.abort();
    throw cause;
  }
}

/** Says that the list changed when sets came or went that this caller may know of. */
async function followList(sets: Sets, call: Call, changed: () => void): Promise<void> {
  const look = async () => ({ mark: JSON.stringify(await sets.list(call)) });
  const lookout = createLookout(look, async () => changed());
  sets.follow(lookout.again, call.signal);
  await lookout.begin();
}

/** False where nothing is there to be watched. */
async function arm(
  spot: Spot,
  { inner, sets, reader }: { inner: Resources; sets: Sets; reader: Reader<Change> },
  { caller, signal }: Call,
): Promise<boolean> {
  const updated: Change = { kind: "updated", uri: spot.uri };
  const over = new AbortController();
  const call: Call = { caller, signal: AbortSignal.any([signal, over.signal]) };
  let leave: AbortController | undefined;

  const lookout = createLookout(
    () => spot.look(call),
    async (found) => {
      reader.push(updated);
      await listen(found?.uris ?? []);
    },
  );

  /** What comes and goes is heard by way of the list. */
  async function listen(uris: readonly string[]): Promise<void> {
    const before = leave;
    const stay = new AbortController();
    leave = stay;
    const watch = await inner.watch(
      { uris, list: true },
      { caller, signal: AbortSignal.any([call.signal, stay.signal]) },
    );
    before?.abort();
    void pump(watch, (change) => (change.kind === "updated" ? reader.push(updated) : lookout.again()), reader);
  }

  sets.follow(lookout.again, call.signal);
  const first = await spot.look(call);
  if (first) await listen(first.uris);
  // Looked at once more behind the watch, so that nothing falls between.
  const begun = first && (await lookout.begin());
  if (!begun) over.abort();
  else if (begun.mark !== first.mark) await listen(begun.uris);
  return begun !== undefined;
}

interface Lookout<Seen> {
  /** What is there now; from here on, others are told of. */
  begin(): Promise<Seen | undefined>;
  /** Something may have changed. */
  again(): void;
}

/** Looks again when told to, one look after the other, and says when there is another mark. */
function createLookout<Seen extends { readonly mark: string }>(
  look: () => Promise<Seen | undefined>,
  changed: (seen: Seen | undefined) => Promise<void>,
): Lookout<Seen> {
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

async function pump(watch: Watch, hear: (change: Change) => void, reader: Reader<Change>): Promise<void> {
  try {
    for await (const change of watch) hear(change);
  } catch (cause) {
    // What was missed is not known, so they are to look again.
    if (toResourceError(cause).kind !== "cancelled") reader.push(listChanged);
  }
}
