/** Turns changes of sources into changes for callers: each gets only what they may see, with URIs as they wrote them. */
import { inParallel } from "../lib/in-parallel.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import { cancelled, ResourceError, toResourceError } from "../errors.ts";
import {
  type Call,
  type Caller,
  callerKey,
  type Change,
  type Resources,
  type UnwatchedUri,
  type Watch,
  type WatchFilter,
} from "../resources.ts";
import type { Address, SourceChange } from "../source.ts";
import { createHub } from "../watch/hub.ts";
import type { Interest, ChangedUris } from "../watch/hub.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { CoalescingQueue } from "../lib/coalescing-queue.ts";
import { createWatchers } from "../watch/watchers.ts";
import type { Watchers } from "../watch/watchers.ts";
import type { Access } from "./access.ts";
import type { ResourceReader } from "./read-resource.ts";
import type { RoutedMount, Location } from "./route.ts";

/** A watched location, and the change to report for it. */
interface WatchedLocation extends Location {
  /** The target of a link: a change there is a change here. */
  readonly reveals?: Address;
  readonly change: { readonly kind: "updated"; readonly uri: string };
}

/** One watcher. There may be tens of thousands: an idle one holds nothing that is not needed. */
interface Listener extends Call {
  readonly watchedLocations: readonly WatchedLocation[];
  /** By mount and path; only if there are many. */
  readonly index: ReadonlyMap<string, readonly WatchedLocation[]> | undefined;
  readonly interest: Interest;
  readonly sharedWatches: readonly SharedWatch[];
  readonly reader: CoalescingQueue<Change>;
  /** URIs that could not be watched when the watch began. Their changes are not reported later either: the caller expects none. */
  unwatched?: ReadonlySet<string>;
  /** Aborted with the listener; present if a source is told what is watched. */
  readonly following: AbortController | undefined;
}

/** A watch of a mount, which runs while anyone listens: one for all callers, or one for each if the source says so. */
interface SharedWatch {
  readonly channel: string;
  readonly mount: RoutedMount;
  readonly watchers: Watchers;
  listeners: number;
  stop: AbortController | undefined;
}

interface ResourceWatcher extends Pick<Resources, "watch"> {
  /** Ends every watch. */
  close(): void;
}

const listChanged: Change = { kind: "list-changed" };
const keyOf = (change: Change) => (change.kind === "updated" ? change.uri : listChanged);
/** Number of URIs of one filter to look up concurrently. */
const lookups = 16;
/** After so many lookups, other work gets its turn. */
const lookupsPerTurn = 256;
/** Up to this number of locations, a linear search is faster than an index. */
const fewLocations = 8;

export function createResourceWatcher(
  access: Access,
  { findEntry, locate }: Pick<ResourceReader, "findEntry" | "locate">,
): ResourceWatcher {
  const watchByChannel = new Map<string, SharedWatch>();
  const live = new Set<Listener>();
  const hub = createHub<Listener>(touch);
  /** The change being published. Publishing is one synchronous step, so there is never more than one. */
  let current: SourceChange = { kind: "lost" };
  let closed = false;

  function publish({ channel, mount }: SharedWatch, change: SourceChange): void {
    current = change;
    hub.publish(channel, change, mount.source);
  }

  function touch(listener: Listener, touched: ChangedUris): void {
    const { mount } = watchByChannel.get(touched.mount) as SharedWatch;
    const maySee = (at: Address) => access.maySee(listener, mount, at);
    if (touched.kind === "list") {
      if (isListed(current) && (current.kind === "lost" || maySee(current))) listener.reader.push(listChanged);
      return;
    }
    const hidden = current.kind !== "lost" && current.path !== touched.path && !maySee(current);
    // A directory does not change for a caller who may not see the child that appeared or went.
    if (hidden && current.kind !== "lost" && isAbove(touched.path, current.path)) return;
    for (const watched of locationsAt(listener, mount.name, touched.path)) {
      if (listener.unwatched?.has(watched.change.uri)) continue;
      if (!maySee(watched.at) || !access.mayReach(listener, mount, watched)) continue;
      if (hidden) void confirm(listener, watched, current.kind);
      else listener.reader.push(watched.change);
    }
  }

  /** After a hidden directory appeared or went: reports an entry below it only if it did the same. */
  async function confirm(listener: Listener, watched: WatchedLocation, kind: SourceChange["kind"]): Promise<void> {
    const found = await findEntry(watched, watched.change.uri, listener).then(
      () => "appeared",
      (cause: unknown) => (toResourceError(cause).kind === "not-found" ? "gone" : "unknown"),
    );
    if (found === kind) listener.reader.push(watched.change);
  }

  async function findLocations(uris: readonly string[], call: Call): Promise<WatchedLocation[]> {
    let count = 0;
    const found = await inParallel([...new Set(uris)], lookups, async (uri) => {
      if ((count += 1) % lookupsPerTurn === 0) await new Promise(setImmediate);
      return call.signal.aborted ? undefined : findLocation(uri, call);
    });
    return found.filter((watched) => watched !== undefined);
  }

  /** Undefined for a URI that is missing or hidden. */
  async function findLocation(uri: string, call: Call): Promise<WatchedLocation | undefined> {
    try {
      const { place, entry } = await locate(uri, call);
      return { ...place, reveals: entry.reveals, change: { kind: "updated", uri } };
    } catch (cause) {
      // A passing failure does not mean that the entry is gone: the caller should retry.
      const { kind } = toResourceError(cause);
      if (kind === "not-found" || kind === "invalid") return undefined;
      throw cause;
    }
  }

  function sharedWatchOf(mount: RoutedMount, caller: Caller): SharedWatch {
    const channel = channelOf(mount, caller);
    let sharedWatch = watchByChannel.get(channel);
    if (sharedWatch === undefined) {
      const options = isPerCaller(mount, caller) ? { caller } : undefined;
      sharedWatch = {
        channel,
        mount,
        watchers: createWatchers(mount.source, mount, access.runtime, options),
        listeners: 0,
        stop: undefined,
      };
      watchByChannel.set(channel, sharedWatch);
    }
    return sharedWatch;
  }

  /** Resolves once the mount's watch is armed, or will be retried later. Every join must be left once. */
  function join(sharedWatch: SharedWatch): Promise<void> {
    sharedWatch.listeners += 1;
    // One subscription serves all listeners of the mount.
    if (sharedWatch.stop) return sharedWatch.watchers.arrive();
    sharedWatch.stop = new AbortController();
    return sharedWatch.watchers.join((change) => publish(sharedWatch, change), sharedWatch.stop.signal);
  }

  function leave(sharedWatch: SharedWatch): void {
    sharedWatch.listeners -= 1;
    if (sharedWatch.listeners > 0) return;
    sharedWatch.stop?.abort();
    sharedWatch.stop = undefined;
    if (sharedWatch.channel === sharedWatch.mount.name) return;
    // There may be any number of callers.
    watchByChannel.delete(sharedWatch.channel);
    sharedWatch.watchers.close();
  }

  function end(listener: Listener): void {
    if (!live.delete(listener)) return;
    hub.leave(listener, listener.interest);
    for (const sharedWatch of listener.sharedWatches) leave(sharedWatch);
    listener.following?.abort();
    void listener.reader.return();
  }

  /** Called before the watches of the mounts start, so that they know what to watch. */
  function follow({ watchedLocations, caller, following }: Listener): Promise<void>[] {
    if (!following) return [];
    const call: Call = { caller, signal: following.signal };
    return watchedLocations.flatMap(({ mount, at }) => mount.source.follow?.(at, call) ?? []);
  }

  function isPerCaller(mount: RoutedMount, caller: Caller): boolean {
    return mount.source.watchesPerCaller === true || access.isFiltered({ caller }, mount);
  }

  /** No mount's name contains a line break. */
  function channelOf(mount: RoutedMount, caller: Caller): string {
    return isPerCaller(mount, caller) ? `${mount.name}\n${callerKey(caller)}` : mount.name;
  }

  function listedMounts(filter: WatchFilter, call: Call): RoutedMount[] {
    if (!filter.list) return [];
    return access.routes.mounts.filter((mount) => mount.source.watch && access.mayEnter(call, mount));
  }

  return {
    async watch(filter, call) {
      if (closed || call.signal.aborted) throw cancelled();
      const watchedLocations = await findLocations(filter.uris ?? [], call);
      const listed = listedMounts(filter, call);
      if (closed || call.signal.aborted) throw cancelled();

      const { caller } = call;
      const watchedMounts = new Set([...watchedLocations.map(({ mount }) => mount), ...listed]);
      const sharedWatches = [...watchedMounts].map((mount) => sharedWatchOf(mount, caller));
      const listener: Listener = {
        caller,
        signal: call.signal,
        watchedLocations,
        index: watchedLocations.length > fewLocations ? byLocation(watchedLocations) : undefined,
        interest: {
          paths: watchedLocations.flatMap((watched) =>
            pathsOf(watched).map((path) => ({ mount: channelOf(watched.mount, caller), path })),
          ),
          lists: listed.map((mount) => channelOf(mount, caller)),
        },
        sharedWatches,
        reader: createCoalescingQueue(keyOf),
        following: watchedLocations.some(({ mount }) => mount.source.follow) ? new AbortController() : undefined,
      };
      live.add(listener);
      // Registered before the watches start, so that no change is missed.
      hub.register(listener, listener.interest);
      const armed = Promise.all([...follow(listener), ...sharedWatches.map(join)]);
      const over = (): void => end(listener);
      call.signal.addEventListener("abort", over, { once: true });
      await unlessAborted(armed, call.signal, cancelled);
      if (!live.has(listener)) throw cancelled();
      const stop = (): void => {
        call.signal.removeEventListener("abort", over);
        end(listener);
      };
      const unwatched = unwatchedOf(listener);
      const [first] = unwatched;
      if (first) listener.unwatched = new Set(unwatched.map(({ uri }) => uri));
      const watch = toWatch(listener, unwatched, stop);
      if (first && watch.uris.length === 0 && !filter.list) {
        stop();
        throw new ResourceError("unsupported", first.reason, { details: { reason: "unwatchable" } });
      }
      return watch;
    },

    close() {
      closed = true;
      for (const listener of live) end(listener);
      for (const { watchers } of watchByChannel.values()) watchers.close();
    },
  };
}

/** Locations of mounts that turned out to be unwatchable, with the reason. */
function unwatchedOf({ watchedLocations, sharedWatches }: Listener): UnwatchedUri[] {
  const refusals = new Map(sharedWatches.map(({ mount, watchers }) => [mount, watchers.refusal]));
  return watchedLocations.flatMap(({ mount, change }) => {
    const refusal = refusals.get(mount);
    return refusal ? [{ uri: change.uri, reason: refusal.message }] : [];
  });
}

function toWatch(listener: Listener, unwatched: readonly UnwatchedUri[], stop: () => void): Watch {
  const { watchedLocations, reader } = listener;
  return {
    uris: watchedLocations.map(({ change }) => change.uri).filter((uri) => !listener.unwatched?.has(uri)),
    ...(unwatched.length > 0 && { unwatched }),
    [Symbol.asyncIterator]: () => ({
      next: () => reader.next(),
      return() {
        stop();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}

/** Returns whether the list may have changed. */
function isListed(change: SourceChange): boolean {
  return !("isUnlisted" in change);
}

function locationsAt({ watchedLocations, index }: Listener, mount: string, path: string): readonly WatchedLocation[] {
  if (index) return index.get(locationKey(mount, path)) ?? [];
  return watchedLocations.filter((watched) => watched.mount.name === mount && pathsOf(watched).includes(path));
}

/** Paths whose change is a change of the location. */
function pathsOf({ at, reveals }: WatchedLocation): string[] {
  return reveals ? [at.path, reveals.path] : [at.path];
}

function byLocation(watchedLocations: readonly WatchedLocation[]): ReadonlyMap<string, readonly WatchedLocation[]> {
  const groups = new Map<string, WatchedLocation[]>();
  for (const watched of watchedLocations) {
    for (const path of pathsOf(watched)) {
      const key = locationKey(watched.mount.name, path);
      const group = groups.get(key);
      if (group) group.push(watched);
      else groups.set(key, [watched]);
    }
  }
  return groups;
}

/** The length of the name comes first, so that name and path cannot be confused. */
function locationKey(mount: string, path: string): string {
  return `${mount.length}:${mount}${path}`;
}

function isAbove(directory: string, path: string): boolean {
  return path !== directory && (directory === "" || path.startsWith(`${directory}/`));
}
