/** The main thread's side of the watching thread: starts it for the first watcher, shares it, and stops it after the last. */
import type { Worker } from "node:worker_threads";
import { ResourceError } from "../../errors.ts";
import {
  createEventListener,
  endEventListener,
  eventsOf,
  type EventListener,
  pushEvent,
} from "../../lib/event-listener.ts";
import { v8Environment } from "../../lib/v8-memory.ts";
import type { SourceChange, SourceWatch, Runtime } from "../../source.ts";
import type { RuleChoice } from "../folder-rules/name-rules.ts";
import type { Person } from "../folder-rules/git-excludes.ts";

export interface WorkerData {
  readonly root: string;
  readonly choice: RuleChoice;
  readonly person: Person;
  /** Whether to use system events, and whether to poll. */
  readonly announced: boolean;
  readonly polled: boolean;
  readonly pollMs: number;
}

/** Changes are packed: a letter and a path each, separated by NUL. An upper-case letter stands for `eachBelow`. */
export type FromWatchWorker =
  | { readonly armed: true }
  | { readonly changes: string }
  /** Whether events wait for processing. */
  | { readonly busy: boolean }
  /** Number of folders that are polled because there are no more watches. */
  | { readonly polling: number };

export interface FolderWatcher {
  /** Resolves once every folder is watched. Ends with the signal. */
  watch(signal: AbortSignal): Promise<SourceWatch>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

export interface FolderWatcherOptions extends WorkerData {
  readonly log: Runtime["log"];
  /** As `SourceWatch.stateOf`. Absent if the disk may block. */
  readonly stateOf?: (path: string) => number;
  /** Memory limit of the thread. Above it the thread ends, and watchers must start again. */
  readonly maxHeapMb?: number;
}

/** A reader this far behind gets "lost" instead. */
const maxQueued = 50_000;

const lost: SourceChange = { kind: "lost" };

/** One run of the thread. */
interface Run {
  readonly worker: Worker;
  readonly listeners: Set<EventListener<SourceChange>>;
  readonly armed: Promise<void>;
  readonly gone: Promise<void>;
  isBusy: boolean;
}

export function createFolderWatcher(options: FolderWatcherOptions): FolderWatcher {
  const { log, stateOf, maxHeapMb = 256, ...workerData } = options;
  let current: Run | undefined;
  /** Settles when the last stopped thread has ended. */
  let stopped = Promise.resolve();
  let closed = false;

  function start(): Run {
    // Loaded late: threads take milliseconds to load, and a server starts without them.
    const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
    const worker = new Thread(new URL("./watch-worker.ts", import.meta.url), {
      workerData: workerData satisfies WorkerData,
      name: "pressmark-file-watch",
      env: v8Environment,
      execArgv: [],
      // There are many short-lived names while folders are read; a small young generation keeps the thread small.
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 2 },
    });
    const listeners = new Set<EventListener<SourceChange>>();
    const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const armed = new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromWatchWorker) => {
        if ("changes" in message) take(listeners, message.changes);
        else if ("armed" in message) resolve();
        else if ("busy" in message) run.isBusy = message.busy;
        else if (message.polling > 0)
          log(
            "warn",
            "the system has no more file watches; some folders are polled; raise fs.inotify.max_user_watches",
            {
              folders: message.polling,
            },
          );
      });
      worker.on("error", fail);
      worker.once("exit", () => fail(undefined));

      function fail(cause: unknown): void {
        const failure = new ResourceError("unavailable", "the folder can no longer be watched; try again", { cause });
        if (current === run) current = undefined;
        stopped = gone;
        for (const listener of listeners) endEventListener(listener, failure);
        listeners.clear();
        reject(failure);
      }
    });
    // The rejection is reported to waiting callers; there may be none.
    armed.catch(() => undefined);
    const run: Run = { worker, listeners, armed, gone, isBusy: false };
    return run;
  }

  function join(listener: EventListener<SourceChange>): Run {
    const run = (current ??= start());
    run.listeners.add(listener);
    return run;
  }

  function part(run: Run, listener: EventListener<SourceChange>): void {
    if (run.listeners.delete(listener) && run.listeners.size === 0 && current === run) stop(run);
  }

  function stop(run: Run): void {
    if (current === run) current = undefined;
    void run.worker.terminate();
    stopped = run.gone;
  }

  return {
    async watch(signal) {
      const listener = createEventListener<SourceChange>();
      if (signal.aborted || closed) {
        endEventListener(listener);
        return { [Symbol.asyncIterator]: () => eventsOf(listener, () => undefined) };
      }
      const run = join(listener);
      const leave = () => {
        signal.removeEventListener("abort", leave);
        part(run, listener);
        endEventListener(listener);
      };
      signal.addEventListener("abort", leave);
      // A failure ends the listener before it is thrown.
      await Promise.race([run.armed, listener.ended.promise]).catch(() => undefined);
      if (listener.failure) {
        leave();
        throw listener.failure;
      }
      const events = eventsOf(listener, leave);
      return {
        [Symbol.asyncIterator]: () => events,
        stateOf,
        get pending() {
          return listener.queue.length + (run.isBusy ? 1 : 0);
        },
      };
    },

    async close() {
      closed = true;
      if (current) {
        for (const listener of current.listeners) endEventListener(listener);
        current.listeners.clear();
        stop(current);
      }
      await stopped;
    },
  };
}

function take(listeners: ReadonlySet<EventListener<SourceChange>>, packed: string): void {
  if (listeners.size === 0) return;
  const changes = packed.split("\0").map(unpack);
  for (const listener of listeners) pushEvent(listener, changes, maxQueued, lost);
}

function unpack(packed: string): SourceChange {
  const path = packed.slice(1);
  switch (packed[0]) {
    case "a":
      return { kind: "appeared", path };
    case "A":
      return { kind: "appeared", path, eachBelow: true };
    case "g":
      return { kind: "gone", path };
    case "G":
      return { kind: "gone", path, eachBelow: true };
    case "c":
      return { kind: "changed", path };
    default:
      return lost;
  }
}
