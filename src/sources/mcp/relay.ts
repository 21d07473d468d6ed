/** Changes of another server as changes here: of those things that someone listens to, and of its list. */
import { ResourceError } from "../../errors.ts";
import { createReader, type Reader } from "../../lib/reader.ts";
import type { Call, Resources } from "../../resources.ts";
import type { Address, SourceChange, Tools } from "../../source.ts";
import type { Addresses } from "./addresses.ts";

export interface Relay {
  /** Until the signal ends, changes there are among those that the watch says. */
  follow(at: Address, signal: AbortSignal): Promise<void>;
  watch(call: Call): Promise<AsyncIterable<SourceChange>>;
}

export interface RelayOptions extends Pick<Resources, "watch"> {
  readonly addresses: Addresses;
  readonly tools: Tools;
  /** Every path that is listed at the moment, and their directories; undefined where there are too many to compare. */
  paths(call: Call): Promise<ReadonlySet<string> | undefined>;
  /** Whether this is known to be one. */
  isDirectory(path: string): boolean;
}

/** One run of the watch. */
interface Run {
  readonly call: Call;
  readonly changes: Reader<SourceChange>;
  /** Whether the other server says when its list changes; undefined while that is being found out. */
  hearsList: boolean | undefined;
  /** Why it cannot go on. */
  failure?: unknown;
}

interface Followed {
  readonly uri: string;
  readonly path: string;
  count: number;
  armed?: Promise<void>;
  /** Ends the watch of this one thing. */
  stop: AbortController | undefined;
}

export function createRelay({ watch: watchThere, addresses, tools, paths, isDirectory }: RelayOptions): Relay {
  const followed = new Map<string, Followed>();
  let run: Run | undefined;

  /** What the server cannot watch is not announced, and can be read all the same. */
  async function arm(thing: Followed, { call, changes, hearsList }: Run): Promise<void> {
    // What comes and goes in it is known from the list, by name: not everyone may know of everything that does.
    if (hearsList && isDirectory(thing.path)) return;
    const stop = new AbortController();
    thing.stop?.abort();
    thing.stop = stop;
    const signal = AbortSignal.any([call.signal, stop.signal]);
    try {
      const watch = await watchThere({ uris: [thing.uri] }, { caller: call.caller, signal });
      void relay(watch, () => changes.push({ kind: "changed", path: thing.path }));
    } catch (cause) {
      if (!signal.aborted && !isUnsupported(cause)) throw cause;
    }
  }

  async function armList(current: Run): Promise<void> {
    const { call, changes } = current;
    let known: ReadonlySet<string> | undefined;
    const compare = createTurns(async () => {
      const now = await paths(call);
      if (!now || !known) changes.push({ kind: "lost" });
      else {
        for (const path of now) if (!known.has(path)) changes.push({ kind: "appeared", path });
        for (const path of known) if (!now.has(path)) changes.push({ kind: "gone", path });
      }
      known = now;
    });
    try {
      const watch = await watchThere({ list: true }, call);
      known = await paths(call);
      current.hearsList = true;
      void relay(watch, () => {
        compare().catch((cause: unknown) => {
          if (call.signal.aborted) return;
          tools.log("warn", "the list of another server changed and cannot be had", { cause });
          changes.push({ kind: "lost" });
        });
      });
    } catch (cause) {
      if (!isUnsupported(cause)) throw cause;
      // What is listed is to be known all the same: things that are not listed can be listened to as well.
      await paths(call);
      current.hearsList = false;
    }
  }

  return {
    async follow(at, signal) {
      const uri = addresses.uri(at);
      if (uri === undefined || signal.aborted) return;
      const known = followed.get(uri);
      const thing: Followed = known ?? { uri, path: at.path, count: 0, stop: undefined };
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
      // A run that begins arms it by itself.
      if (!known && current?.hearsList !== undefined)
        thing.armed = arm(thing, current).catch((cause: unknown) => {
          // The run that follows arms everything, and has everyone look again.
          current.failure = cause;
          void current.changes.return();
        });
      await thing.armed;
    },

    async watch(call) {
      const changes = createReader<SourceChange>((change) => JSON.stringify(change));
      const current: Run = { call, changes, hearsList: undefined };
      run = current;
      const end = (): void => {
        if (run === current) run = undefined;
        void changes.return();
      };
      call.signal.addEventListener("abort", end, { once: true });
      try {
        await armList(current);
        await Promise.all(Array.from(followed.values(), (thing) => arm(thing, current)));
      } catch (cause) {
        end();
        throw cause;
      }
      return told(current);
    },
  };
}

async function* told(run: Run): AsyncGenerator<SourceChange> {
  yield* run.changes;
  if (run.failure !== undefined) throw run.failure;
}

async function relay<T>(changes: AsyncIterable<T>, hear: (change: T) => void): Promise<void> {
  for await (const change of changes) hear(change);
}

/** One after the other, and what is asked for while one waits is the same one. */
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
