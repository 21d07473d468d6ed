/** Turns changes of sources into changes for callers: each gets only what they may see, with URIs as they wrote them. */
import { toResourceError } from "../errors.ts";
import type { Call, Change, Resources, Watch, WatchFilter } from "../resources.ts";
import type { Address, SourceChange } from "../source.ts";
import { createHub } from "../watch/hub.ts";
import type { Interest, ChangedUris } from "../watch/hub.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { CoalescingQueue } from "../lib/coalescing-queue.ts";
import { createWatchers } from "../watch/watchers.ts";
import type { Watchers } from "../watch/watchers.ts";
import { cancelledRequest } from "./access.ts";
import type { Access } from "./access.ts";
import type { ResourceReader } from "./read-resource.ts";
import type { RoutedMount, Location } from "./route.ts";

/** A watched location, and the change to report for it. */
interface Spot extends Location {
  /** The target of a link: a change there is a change here. */
  readonly reveals?: Address;
  readonly change: { readonly kind: "updated"; readonly uri: string };
}

/** One watcher. There may be tens of thousands: an idle one holds nothing that is not needed. */
interface Listener extends Call {
  readonly spots: readonly Spot[];
  /** By mount and path; only if there are many. */
  readonly index: ReadonlyMap<string, readonly Spot[]> | undefined;
  readonly interest: Interest;
  readonly ears: readonly Ear[];
  readonly reader: CoalescingQueue<Change>;
  /** Aborted with the listener; present if a source is told what is watched. */
  readonly following: AbortController | undefined;
}

/** A mount's watch, which runs while anyone listens. */
interface Ear {
  readonly mount: RoutedMount;
  readonly watchers: Watchers;
  listeners: number;
  stop: AbortController | undefined;
}

export interface ResourceWatcher extends Pick<Resources, "watch"> {
  /** Ends every watch. */
  close(): void;
}

const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);
/** Number of URIs of one filter to look up concurrently. */
const lookups = 16;
/** After so many lookups, other work gets its turn. */
const lookupsPerTurn = 256;
/** Up to this number of spots, a linear search is faster than an index. */
const fewSpots = 8;

export function createResourceWatcher(
  access: Access,
  { findEntry }: Pick<ResourceReader, "findEntry">,
): ResourceWatcher {
  const mounts = new Map(access.routes.mounts.map((mount) => [mount.name, mount]));
  const earsByMount = new Map<RoutedMount, Ear>();
  const live = new Set<Listener>();
  const hub = createHub<Listener>(touch);
  /** The change being published. Publishing is one synchronous step, so there is never more than one. */
  let current: SourceChange = { kind: "lost" };
  let closed = false;

  function publish(mount: RoutedMount, change: SourceChange): void {
    current = change;
    hub.publish(mount.name, change);
  }

  function touch(listener: Listener, touched: ChangedUris): void {
    const mount = mounts.get(touched.mount) as RoutedMount;
    const maySee = (at: Address) => access.maySee(listener, mount, at);
    if (touched.kind === "list") {
      if (current.kind === "lost" || maySee(current)) listener.reader.push(listChanged);
      return;
    }
    const hidden = current.kind !== "lost" && current.path !== touched.path && !maySee(current);
    // A directory does not change for a caller who may not see the child that appeared or went.
    if (hidden && current.kind !== "lost" && isAbove(touched.path, current.path)) return;
    for (const spot of spotsAt(listener, touched.mount, touched.path)) {
      if (!maySee(spot.at) || !access.mayReach(listener, mount, spot)) continue;
      if (hidden) void confirm(listener, spot, current.kind);
      else listener.reader.push(spot.change);
    }
  }

  /** After a hidden directory appeared or went: reports an entry below it only if it did the same. */
  async function confirm(listener: Listener, spot: Spot, kind: SourceChange["kind"]): Promise<void> {
    const found = await findEntry(spot, spot.change.uri, listener).then(
      () => "appeared",
      (cause: unknown) => (toResourceError(cause).kind === "not-found" ? "gone" : "unknown"),
    );
    if (found === kind) listener.reader.push(spot.change);
  }

  async function findSpots(uris: readonly string[], call: Call): Promise<Spot[]> {
    const asked = [...new Set(uris)];
    const found: (Spot | undefined)[] = asked.map(() => undefined);
    let next = 0;
    async function lookUp(): Promise<void> {
      while (next < asked.length && !call.signal.aborted) {
        const index = next;
        next += 1;
        if (next % lookupsPerTurn === 0) await new Promise(setImmediate);
        found[index] = await findSpot(asked[index] as string, call);
      }
    }
    await Promise.all(Array.from({ length: Math.min(lookups, asked.length) }, lookUp));
    return found.filter((spot) => spot !== undefined);
  }

  /** Undefined for a URI that is missing, hidden or not watchable. */
  async function findSpot(uri: string, call: Call): Promise<Spot | undefined> {
    try {
      const { mount, at } = access.place(uri, call);
      if (mount.source.watch === undefined) return undefined;
      const { reveals } = await findEntry({ mount, at }, uri, call);
      return { mount, at, ...(reveals && { reveals }), change: { kind: "updated", uri } };
    } catch (cause) {
      // A passing failure does not mean that the entry is gone: the caller should retry.
      const { kind } = toResourceError(cause);
      if (kind === "not-found" || kind === "invalid") return undefined;
      throw cause;
    }
  }

  function earOf(mount: RoutedMount): Ear {
    let ear = earsByMount.get(mount);
    if (ear === undefined) {
      ear = { mount, watchers: createWatchers(mount.source, mount, access.runtime), listeners: 0, stop: undefined };
      earsByMount.set(mount, ear);
    }
    return ear;
  }

  /** Resolves once the mount's watch is armed, or will be retried later. Every join must be left once. */
  function join(ear: Ear): Promise<void> {
    ear.listeners += 1;
    // One subscription serves all listeners of the mount.
    if (ear.stop) return ear.watchers.arrive();
    ear.stop = new AbortController();
    return ear.watchers.join((change) => publish(ear.mount, change), ear.stop.signal);
  }

  function leave(ear: Ear): void {
    ear.listeners -= 1;
    if (ear.listeners > 0) return;
    ear.stop?.abort();
    ear.stop = undefined;
  }

  function end(listener: Listener): void {
    if (!live.delete(listener)) return;
    hub.leave(listener, listener.interest);
    for (const ear of listener.ears) leave(ear);
    listener.following?.abort();
    void listener.reader.return();
  }

  /** Called before the watches of the mounts start, so that they know what to watch. */
  function follow({ spots, caller, following }: Listener): Promise<void>[] {
    if (!following) return [];
    const call: Call = { caller, signal: following.signal };
    return spots.flatMap(({ mount, at }) => mount.source.follow?.(at, call) ?? []);
  }

  function listedMounts(filter: WatchFilter, call: Call): RoutedMount[] {
    if (!filter.list) return [];
    return access.routes.mounts.filter((mount) => mount.source.watch && access.mayEnter(call, mount));
  }

  return {
    async watch(filter, call) {
      if (closed || call.signal.aborted) throw cancelledRequest();
      const spots = await findSpots(filter.uris ?? [], call);
      const listed = listedMounts(filter, call);
      if (closed || call.signal.aborted) throw cancelledRequest();

      const ears = [...new Set([...spots.map(({ mount }) => mount), ...listed])].map(earOf);
      const listener: Listener = {
        caller: call.caller,
        signal: call.signal,
        spots,
        index: spots.length > fewSpots ? bySpot(spots) : undefined,
        interest: {
          paths: spots.flatMap((spot) => pathsOf(spot).map((path) => ({ mount: spot.mount.name, path }))),
          lists: listed.map(({ name }) => name),
        },
        ears,
        reader: createCoalescingQueue(keyOf),
        following: spots.some(({ mount }) => mount.source.follow) ? new AbortController() : undefined,
      };
      live.add(listener);
      // Registered before the watches start, so that no change is missed.
      hub.register(listener, listener.interest);
      const armed = Promise.all([...follow(listener), ...ears.map(join)]);
      const over = (): void => end(listener);
      call.signal.addEventListener("abort", over, { once: true });
      await untilEither(armed, call.signal);
      if (!live.has(listener)) throw cancelledRequest();
      return toWatch(listener, () => {
        call.signal.removeEventListener("abort", over);
        end(listener);
      });
    },

    close() {
      closed = true;
      for (const listener of live) end(listener);
      for (const { watchers } of earsByMount.values()) watchers.close();
    },
  };
}

function toWatch({ spots, reader }: Listener, stop: () => void): Watch {
  return {
    uris: spots.map(({ change }) => change.uri),
    [Symbol.asyncIterator]: () => ({
      next: () => reader.next(),
      return() {
        stop();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}

/** Resolves with the work, or as soon as the signal is aborted. */
function untilEither(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    work.then(done, (cause: unknown) => {
      signal.removeEventListener("abort", done);
      reject(cause);
    });
  });
}

function spotsAt({ spots, index }: Listener, mount: string, path: string): readonly Spot[] {
  if (index) return index.get(spotKey(mount, path)) ?? [];
  return spots.filter((spot) => spot.mount.name === mount && pathsOf(spot).includes(path));
}

/** Paths whose change is a change of the spot. */
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

/** The length of the name comes first, so that name and path cannot be confused. */
function spotKey(mount: string, path: string): string {
  return `${mount.length}:${mount}${path}`;
}

function isAbove(directory: string, path: string): boolean {
  return path !== directory && (directory === "" || path.startsWith(`${directory}/`));
}
