/** From what callers want to hear of to what their sources say: each caller hears of what they may see, in their own spelling. */
import type { Call, Caller, Change, Resources, Watch, WatchFilter } from "../resources.ts";
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
  readonly change: { readonly kind: "updated"; readonly uri: string };
}

interface Listener {
  readonly caller: Caller;
  /** By mount and path: one place may be watched under several spellings. */
  readonly spots: ReadonlyMap<string, readonly Spot[]>;
  push(change: Change): void;
}

/** A mount's watch, which runs as long as anyone listens. */
interface Ear {
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

export function createWatching(doors: Doors, { statPlace }: Pick<Reading, "statPlace">): Watching {
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
    // A directory has changed through one of its children, which must be visible too.
    if (current.kind !== "lost" && isAbove(touched.path, current.path) && !maySee(current)) return;
    for (const spot of listener.spots.get(spotKey(touched.mount, touched.path)) ?? []) {
      if (maySee(spot.at)) listener.push(spot.change);
    }
  }

  async function findSpots(uris: readonly string[], call: Call): Promise<Spot[]> {
    const asked = [...new Set(uris)];
    const found = new Array<Spot | undefined>(asked.length);
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
      await statPlace({ mount, at }, uri, call);
      return { mount, at, change: { kind: "updated", uri } };
    } catch {
      return undefined;
    }
  }

  /** Resolves once the mount's watch is armed, or is known to be tried again later. */
  async function arm(mount: Mounted, signal: AbortSignal): Promise<void> {
    let ear = ears.get(mount);
    if (ear === undefined) {
      ear = { watchers: createWatchers(mount.source, mount, doors.tools), listeners: 0, stop: undefined };
      ears.set(mount, ear);
    }
    const { watchers } = ear;
    ear.listeners += 1;
    if (ear.stop === undefined) {
      ear.stop = new AbortController();
      signal.addEventListener("abort", () => leave(ear), { once: true });
      await watchers.join((change) => publish(mount, change), ear.stop.signal);
    } else {
      // One pair of ears hears for all; this join only says that someone has come, and waits until they can hear.
      const visit = new AbortController();
      signal.addEventListener("abort", () => leave(ear, visit), { once: true });
      await watchers.join(ignore, visit.signal);
      visit.abort();
    }
  }

  function leave(ear: Ear, visit?: AbortController): void {
    visit?.abort();
    ear.listeners -= 1;
    if (ear.listeners > 0) return;
    ear.stop?.abort();
    ear.stop = undefined;
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

      const own = new AbortController();
      live.add(own);
      const stop = () => own.abort();
      call.signal.addEventListener("abort", stop, { once: true });
      own.signal.addEventListener(
        "abort",
        () => {
          live.delete(own);
          call.signal.removeEventListener("abort", stop);
        },
        { once: true },
      );

      const reader = createReader<Change>(own.signal, keyOf);
      const listener: Listener = { caller: call.caller, spots: bySpot(spots), push: reader.push };
      // Before the watches start, so that nothing falls between.
      hub.register(
        listener,
        {
          paths: spots.map(({ mount, at }) => ({ mount: mount.name, path: at.path })),
          lists: listed.map(({ name }) => name),
        },
        own.signal,
      );
      const needed = new Set([...spots.map(({ mount }) => mount), ...listed]);
      const armed = [...needed].map((mount) => arm(mount, own.signal));
      await unlessAborted(own.signal, Promise.all(armed)).catch((cause: unknown) => {
        stop();
        throw cause;
      });
      return toWatch(
        spots.map(({ change }) => change.uri),
        reader.iterable,
        stop,
      );
    },

    close() {
      closed = true;
      for (const controller of live) controller.abort();
      for (const { watchers } of ears.values()) watchers.close();
    },
  };
}

function toWatch(uris: readonly string[], changes: AsyncIterable<Change>, stop: () => void): Watch {
  return {
    uris,
    [Symbol.asyncIterator]() {
      const iterator = changes[Symbol.asyncIterator]();
      return {
        next: () => iterator.next(),
        return() {
          stop();
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

function bySpot(spots: readonly Spot[]): ReadonlyMap<string, readonly Spot[]> {
  const groups = new Map<string, Spot[]>();
  for (const spot of spots) {
    const key = spotKey(spot.mount.name, spot.at.path);
    const group = groups.get(key);
    if (group) group.push(spot);
    else groups.set(key, [spot]);
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
