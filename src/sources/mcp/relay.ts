/** Relays changes of another server: of watched resources, and of its list. */
import { ResourceError, unavailable } from "../../errors.ts";
import { type Call, type Resources, serverCaller } from "../../resources.ts";
import type { Address, SourceChange, Runtime } from "../../source.ts";
import { createSharedWatch, type ChangeDetector } from "../../backends/shared-watch.ts";
import type { Addresses } from "./addresses.ts";

interface Relay {
  /** Until the signal ends, every watch reports changes at this address. */
  follow(at: Address, signal: AbortSignal): Promise<void>;
  /** All watches share one run, which the first starts and the last ends. */
  watch(signal: AbortSignal): Promise<AsyncIterable<SourceChange>>;
  /** Ends every watch. */
  close(): Promise<void>;
}

interface RelayOptions extends Pick<Resources, "watch"> {
  readonly addresses: Addresses;
  readonly runtime: Runtime;
  /**
   * Every listed path with its URIs, which may differ in their queries, and the directories above, with none ("").
   * Undefined if there are too many to compare.
   */
  paths(call: Call): Promise<ReadonlyMap<string, string> | undefined>;
  /** Whether this is known to be a directory. */
  isDirectory(path: string): boolean;
}

/** The subscriptions at the other server, shared by all watches. */
interface Run {
  readonly call: Call;
  tell(change: SourceChange): void;
  /** Ends the run: watches start another, and get "lost". */
  fail(cause: unknown): void;
  /** Whether the other server announces list changes; undefined while unknown. */
  hearsList: boolean | undefined;
}

interface Followed {
  readonly uri: string;
  readonly path: string;
  count: number;
  /** Resolves once the current run watches it, or cannot. */
  armed: Promise<void>;
  /** Ends the watch of this resource. */
  stop: AbortController | undefined;
}

const caller = serverCaller;

export function createRelay({ watch: watchThere, addresses, runtime, paths, isDirectory }: RelayOptions): Relay {
  const followed = new Map<string, Followed>();
  const watching = createSharedWatch(runWatch);
  let run: Run | undefined;

  async function runWatch({ armed, tell, signal }: ChangeDetector): Promise<void> {
    const over = Promise.withResolvers<void>();
    const stop = new AbortController();
    signal.addEventListener("abort", () => over.resolve(), { once: true });
    const current: Run = {
      call: { caller, signal: AbortSignal.any([signal, stop.signal]) },
      tell: (change) => tell([change]),
      fail: over.reject,
      hearsList: undefined,
    };
    run = current;
    try {
      await armList(current);
      await Promise.all(Array.from(followed.values(), (thing) => arm(thing, current)));
      armed();
      await over.promise;
    } finally {
      if (run === current) run = undefined;
      stop.abort();
    }
  }

  function arm(thing: Followed, current: Run): Promise<void> {
    const armed = armOne(thing, current);
    // A failure is reported through the watch.
    thing.armed = armed.catch(() => undefined);
    return armed;
  }

  async function armOne(thing: Followed, current: Run): Promise<void> {
    const { call, hearsList } = current;
    // Changes in a directory are derived from the list, by name: not every caller may see all of them.
    if (hearsList && isDirectory(thing.path)) return;
    const stop = new AbortController();
    thing.stop?.abort();
    thing.stop = stop;
    const signal = AbortSignal.any([call.signal, stop.signal]);
    try {
      const watch = await watchThere({ uris: [thing.uri] }, { caller, signal });
      relay(watch, current, signal, () => current.tell({ kind: "changed", path: thing.path }));
    } catch (cause) {
      if (signal.aborted || isUnsupported(cause)) return;
      if (cause instanceof ResourceError && cause.passing) throw cause;
      // The failure concerns this resource only: it is not announced, the others are.
      runtime.log("warn", "a resource of another server cannot be watched", { uri: thing.uri, cause });
    }
  }

  async function armList(current: Run): Promise<void> {
    const { call, tell } = current;
    let known: ReadonlyMap<string, string> | undefined;
    const compare = createTurns(async () => {
      const now = await paths(call);
      if (!now || !known) tell({ kind: "lost" });
      else {
        for (const [path, uris] of now) {
          const before = known.get(path);
          if (before === undefined && uris === "") tell({ kind: "appeared", path, isUnlisted: true });
          else if (before !== uris) tell({ kind: "appeared", path });
        }
        for (const [path, uris] of known)
          if (!now.has(path)) tell({ kind: "gone", path, ...(uris === "" && { isUnlisted: true }) });
      }
      known = now;
    });
    try {
      const watch = await watchThere({ list: true }, call);
      known = await paths(call);
      current.hearsList = true;
      relay(watch, current, call.signal, () => {
        compare().catch((cause: unknown) => {
          if (call.signal.aborted) return;
          runtime.log("warn", "the list of another server changed but cannot be read", { cause });
          tell({ kind: "lost" });
        });
      });
    } catch (cause) {
      if (!isUnsupported(cause)) throw cause;
      // The list must be known even so, because resources that are not listed can be watched as well.
      await paths(call);
      current.hearsList = false;
    }
  }

  return {
    async follow(at, signal) {
      const uri = addresses.uri(at);
      if (uri === undefined || signal.aborted) return;
      const known = followed.get(uri);
      const thing: Followed = known ?? { uri, path: at.path, count: 0, armed: Promise.resolve(), stop: undefined };
      thing.count += 1;
      followed.set(uri, thing);
      signal.addEventListener(
        "abort",
        () => {
          thing.count -= 1;
          if (thing.count > 0) return;
          thing.stop?.abort();
          if (followed.get(uri) === thing) followed.delete(uri);
        },
        { once: true },
      );
      const current = run;
      // A starting run arms it itself.
      if (!known && current?.hearsList !== undefined) arm(thing, current).catch(current.fail);
      await thing.armed;
    },

    watch: watching.watch,
    close: watching.close,
  };
}

/** A watch that ends unexpectedly may have missed changes. */
function relay<T>(changes: AsyncIterable<T>, { fail }: Run, signal: AbortSignal, hear: (change: T) => void): void {
  async function follow(): Promise<void> {
    for await (const change of changes) hear(change);
    if (!signal.aborted) throw unavailable("the other server no longer announces changes");
  }
  follow().catch(fail);
}

/** Runs one at a time; requests during a run share the next one. */
function createTurns(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  return () => {
    if (waiting) return waiting;
    const begin = (): Promise<void> => {
      waiting = undefined;
      current = work();
      return current;
    };
    waiting = current ? current.then(begin, begin) : Promise.resolve().then(begin);
    return waiting;
  };
}

function isUnsupported(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "unsupported";
}
