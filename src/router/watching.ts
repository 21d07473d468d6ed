/** From what callers want to hear of to what their sources say: each caller hears of what they may see, in their own spelling. */
import { toResourceError } from "../errors.ts";
import type { Call, Change, Resources, Watch, WatchFilter } from "../resources.ts";
import type { Address, SourceChange } from "../source.ts";
import { createHub } from "../watch/hub.ts";
import type { Touched } from "../watch/hub.ts";
import { createReader } from "../watch/reader.ts";
import { createWatchers } from "../watch/watchers.ts";
import type { Watchers } from "../watch/watchers.ts";
import { withdrawn } from "./doors.ts";
import type { Doors } from "./doors.ts";
import type { Reading } from "./reading.ts";
import type { Mounted, Place } from "./route.ts";

/** A place that a caller watches, and what they are told when it changes. */
interface Spot extends Place {
  /** Where a link leads: what changes there changes here. */
  readonly reveals?: Address;
  readonly change: { readonly kind: "updated"; readonly uri: string };
}

interface Listener extends Call {
  /** By mount and path: one place may be watched under several spellings. */
  readonly spots: ReadonlyMap<string, readonly Spot[]>;
  push(change: Change): void;
}

/** A mount's watch, which runs as long as anyone listens. */
interface Ear {
  readonly mount: Mounted;
  readonly watchers: Watchers;
  listeners: number;
  stop: AbortController | undefined;
}

export interface Watching extends Pick<Resources, "watch"> {
  /** Ends every watch. */
  close(): void;
}

const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);
const ignore = () => {};
/** So many URIs of one filter are looked up at a time. */
const lookups = 16;

export function createWatching(doors: Doors, { findEntry }: Pick<Reading, "findEntry">): Watching {
  const mounts = new Map(doors.routes.mounts.map((mount) => [mount.name, mount]));
  const ears = new Map<Mounted, Ear>();
  const live = new Set<AbortController>();
  const hub = createHub<Listener>(touch);
  /** What is being published. Publishing is one synchronous step, so there is never more than one. */
  let current: SourceChange = { kind: "lost" };
  let closed = false;

  function publish(mount: Mounted, change: SourceChange): void {
    current = change;
    hub.publish(mount.name, change);
  }

  function touch(listener: Listener, touched: Touched): void {
    const mount = mounts.get(touched.mount) as Mounted;
    const maySee = (at: Address) => doors.maySee(listener, mount, at);
    if (touched.kind === "list") {
      if (current.kind === "lost" || maySee(current)) listener.push(listChanged);
      return;
    }
    const hidden = current.kind !== "lost" && current.path !== touched.path && !maySee(current);
    // A directory does not change for those who may not see the child that came or went.
    if (hidden && current.kind !== "lost" && isAbove(touched.path, current.path)) return;
    for (const spot of listener.spots.get(spotKey(touched.mount, touched.path)) ?? []) {
      if (!maySee(spot.at) || !doors.mayReach(listener, mount, spot)) continue;
      if (hidden) void confirm(listener, spot, current.kind);
      else listener.push(spot.change);
    }
  }

  /** A hidden directory came or went: what is below is announced only if it did the same. */
  async function confirm(listener: Listener, spot: Spot, kind: SourceChange["kind"]): Promise<void> {
    const found = await findEntry(spot, spot.change.uri, listener).then(
      () => "appeared",
      (cause: unknown) => (toResourceError(cause).kind === "not-found" ? "gone" : "unknown"),
    );
    if (found === kind) listener.push(spot.change);
  }

  async function findSpots(uris: readonly string[], call: Call): Promise<Spot[]> {
    const asked = [...new Set(uris)];
    const found: (Spot | undefined)[] = asked.map(() => undefined);
    let next = 0;
    async function lookUp(): Promise<void> {
      while (next < asked.length && !call.signal.aborted) {
        const index = next;
        next += 1;
        found[index] = await findSpot(asked[index] as string, call);
      }
    }
    await Promise.all(Array.from({ length: Math.min(lookups, asked.length) }, lookUp));
    return found.filter((spot) => spot !== undefined);
  }

  /** Undefined for what is not there, may not be seen or cannot be watched. */
  async function findSpot(uri: string, call: Call): Promise<Spot | undefined> {
    try {
      const { mount, at } = doors.place(uri, call);
      if (mount.source.watch === undefined) return undefined;
      const { reveals } = await findEntry({ mount, at }, uri, call);
      return { mount, at, ...(reveals && { reveals }), change: { kind: "updated", uri } };
    } catch {
      return undefined;
    }
  }

  function earOf(mount: Mounted): Ear {
    let ear = ears.get(mount);
    if (ear === undefined) {
      ear = { mount, watchers: createWatchers(mount.source, mount, doors.tools), listeners: 0, stop: undefined };
      ears.set(mount, ear);
    }
    return ear;
  }

  /** Resolves once the mount's watch is armed, or is known to be tried again later. Every join is left once. */
  function join(ear: Ear, visit: AbortSignal): Promise<void> {
    ear.listeners += 1;
    // One pair of ears hears for all; this only says that someone has come, and waits until they can hear.
    if (ear.stop) return ear.watchers.join(ignore, visit);
    ear.stop = new AbortController();
    return ear.watchers.join((change) => publish(ear.mount, change), ear.stop.signal);
  }

  function leave(ear: Ear): void {
    ear.listeners -= 1;
    if (ear.listeners > 0) return;
    ear.stop?.abort();
    ear.stop = undefined;
  }

  /** A signal that ends with the call, with the house, or when it is told to. The ears are joined until then. */
  function begin(call: Call, joined: readonly Ear[]): AbortController {
    const own = new AbortController();
    const stop = () => own.abort();
    live.add(own);
    call.signal.addEventListener("abort", stop, { once: true });
    own.signal.addEventListener(
      "abort",
      () => {
        live.delete(own);
        call.signal.removeEventListener("abort", stop);
        for (const ear of joined) leave(ear);
      },
      { once: true },
    );
    return own;
  }

  /** Registered before the watches start, so that nothing falls between. */
  function register({ caller }: Call, signal: AbortSignal, spots: readonly Spot[], listed: readonly Mounted[]) {
    const reader = createReader<Change>(signal, keyOf);
    hub.register(
      { caller, signal, spots: bySpot(spots), push: reader.push },
      {
        paths: spots.flatMap((spot) => pathsOf(spot).map((path) => ({ mount: spot.mount.name, path }))),
        lists: listed.map(({ name }) => name),
      },
      signal,
    );
    return reader.iterable;
  }

  function listedMounts(filter: WatchFilter, call: Call): Mounted[] {
    if (!filter.list) return [];
    return doors.routes.mounts.filter((mount) => mount.source.watch && doors.mayEnter(call, mount));
  }

  return {
    async watch(filter, call) {
      if (closed || call.signal.aborted) throw withdrawn();
      const spots = await findSpots(filter.uris ?? [], call);
      const listed = listedMounts(filter, call);
      if (closed || call.signal.aborted) throw withdrawn();

      const needed = [...new Set([...spots.map(({ mount }) => mount), ...listed])].map(earOf);
      const own = begin(call, needed);
      const changes = register(call, own.signal, spots, listed);
      const visit = new AbortController();
      try {
        await unlessAborted(own.signal, Promise.all(needed.map((ear) => join(ear, visit.signal))));
      } catch (cause) {
        own.abort();
        throw cause;
      } finally {
        // With a reason of its own, for an error is dear to make and no one reads it.
        visit.abort(null);
      }
      return toWatch(
        spots.map(({ change }) => change.uri),
        changes,
        own,
      );
    },

    close() {
      closed = true;
      for (const controller of live) controller.abort();
      for (const { watchers } of ears.values()) watchers.close();
    },
  };
}

function toWatch(uris: readonly string[], changes: AsyncIterable<Change>, own: AbortController): Watch {
  return {
    uris,
    [Symbol.asyncIterator]() {
      const iterator = changes[Symbol.asyncIterator]();
      return {
        next: () => iterator.next(),
        return() {
          own.abort();
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
}

/** Rejects as withdrawn when the signal ends first. */
function unlessAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => reject(withdrawn());
    if (signal.aborted) return end();
    signal.addEventListener("abort", end, { once: true });
    work.then(
      () => {
        signal.removeEventListener("abort", end);
        resolve();
      },
      (cause: unknown) => {
        signal.removeEventListener("abort", end);
        reject(cause);
      },
    );
  });
}

/** The paths at which a change is a change of the spot. */
function pathsOf({ at, reveals }: Spot): string[] {
  return reveals ? [at.path, reveals.path] : [at.path];
}

function bySpot(spots: readonly Spot[]): ReadonlyMap<string, readonly Spot[]> {
  const groups = new Map<string, Spot[]>();
  for (const spot of spots) {
    for (const path of pathsOf(spot)) {
      const key = spotKey(spot.mount.name, path);
      const group = groups.get(key);
      if (group) group.push(spot);
      else groups.set(key, [spot]);
    }
  }
  return groups;
}

/** The name's length comes first, so that a name and a path never run into each other. */
function spotKey(mount: string, path: string): string {
  return `${mount.length}:${mount}${path}`;
}

function isAbove(directory: string, path: string): boolean {
  return path !== directory && (directory === "" || path.startsWith(`${directory}/`));
}
