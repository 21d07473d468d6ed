/** The main thread's side of the watching thread: starts it for the first watcher, shares it, and stops it after the last. */
import { ResourceError, unavailable } from "../../errors.ts";
import { v8Environment } from "../../lib/v8-memory.ts";
import type { SourceChange, SourceWatch, Runtime } from "../../source.ts";
import { createSharedWatch, type ChangeDetector } from "../shared-watch.ts";
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

/** Changes are packed: a letter and a path each, separated by NUL. An upper-case letter stands for a folder. */
export type FromWatchWorker =
  | { readonly armed: true }
  | { readonly changes: string }
  /** False instead of `armed`, and after each check that failed later; true after the first one that did not. */
  | { readonly rootReadable: boolean }
  /** Whether events wait for processing. */
  | { readonly busy: boolean }
  /** Number of folders that are polled because there are no more watches. */
  | { readonly polling: number };

interface FolderWatcher {
  /** Resolves once every folder is watched. Throws "unavailable" if the root cannot be read. Ends with the signal. */
  watch(signal: AbortSignal): Promise<SourceWatch>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

interface FolderWatcherOptions extends WorkerData {
  readonly log: Runtime["log"];
  /** As `SourceWatch.stateOf`. Absent if the disk may block. */
  readonly stateOf?: (path: string) => number;
  /** Memory limit of the thread. Above it the thread ends, and watchers must start again. */
  readonly maxHeapMb?: number;
}

/** A reader this far behind gets "lost" instead. */
const maxQueued = 50_000;

export function createFolderWatcher(options: FolderWatcherOptions): FolderWatcher {
  const { log, stateOf, maxHeapMb = 256, ...workerData } = options;
  let isBusy = false;

  async function watchInThread({ armed, tell, setFailure, signal }: ChangeDetector): Promise<void> {
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
    isBusy = false;
    let isArmed = false;
    let failure: unknown;
    worker.on("message", (message: FromWatchWorker) => {
      if (signal.aborted) return;
      if ("changes" in message) tell(message.changes.split("\0").map(unpack));
      else if ("armed" in message) {
        isArmed = true;
        armed();
      } else if ("rootReadable" in message) {
        const cause = message.rootReadable
          ? undefined
          : unavailable("the folder of this mount cannot be read at the moment");
        if (isArmed) setFailure(cause);
        else {
          failure = cause;
          void worker.terminate();
        }
      } else if ("busy" in message) ({ busy: isBusy } = message);
      else if (message.polling > 0)
        log("warn", "the system has no more file watches; some folders are polled; raise fs.inotify.max_user_watches", {
          folders: message.polling,
        });
    });
    signal.addEventListener("abort", () => void worker.terminate(), { once: true });
    await new Promise<void>((resolve) => {
      worker.on("error", (thrown) => (failure = thrown));
      worker.once("exit", () => resolve());
    });
    if (failure instanceof ResourceError) throw failure;
    throw unavailable("the folder can no longer be watched; try again", failure);
  }

  const { watch, close } = createSharedWatch(watchInThread, maxQueued);
  return {
    async watch(signal) {
      const queue = await watch(signal);
      return {
        [Symbol.asyncIterator]: () => queue,
        stateOf,
        get failure() {
          return queue.failure;
        },
        get pending() {
          return queue.size + (isBusy ? 1 : 0);
        },
      };
    },
    close,
  };
}

const folder = { eachBelow: true, isUnlisted: true } as const;

function unpack(packed: string): SourceChange {
  const path = packed.slice(1);
  switch (packed[0]) {
    case "a":
      return { kind: "appeared", path };
    case "A":
      return { kind: "appeared", path, ...folder };
    case "g":
      return { kind: "gone", path };
    case "G":
      return { kind: "gone", path, ...folder };
    case "c":
      return { kind: "changed", path };
    default:
      return { kind: "lost" };
  }
}
