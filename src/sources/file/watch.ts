/** The house's side of the watching thread: starts it, takes what it tells, ends it. */
import { ResourceError } from "../../errors.ts";
import type { SourceChange, Tools } from "../../source.ts";

export interface WorkerData {
  readonly root: string;
  readonly pollAll: boolean;
}

/** Changes are packed: a letter and a path each, with NUL between. */
export type FromWorker =
  | { readonly armed: true }
  | { readonly changes: string }
  /** How many folders had to be polled for want of watches. */
  | { readonly polling: number };

export interface WatchOptions {
  readonly root: string;
  readonly isLocal: boolean;
  /** Either of these ends the watch. */
  readonly signal: AbortSignal;
  readonly closing: AbortSignal;
  readonly log: Tools["log"];
}

/** A reader this far behind is told to look again instead. */
const maxQueued = 100_000;

const lost: SourceChange = { kind: "lost" };

/** Resolves once every folder is watched. */
export async function startWatch(options: WatchOptions): Promise<AsyncIterable<SourceChange>> {
  const { root, isLocal, signal, closing, log } = options;
  let queue: SourceChange[] = [];
  let wake: (() => void) | undefined;
  let isOver = signal.aborted || closing.aborted;
  let failure: ResourceError | undefined;
  if (isOver) return nothing;

  // Threads cost milliseconds to load, and serving starts without them.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const workerData: WorkerData = { root, pollAll: !isLocal };
  const worker = new Worker(new URL("./watch-worker.ts", import.meta.url), {
    workerData,
    name: "pressmark-file-watch",
    env: {},
    execArgv: [],
  });
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));

  function end(): void {
    isOver = true;
    queue = [];
    signal.removeEventListener("abort", end);
    closing.removeEventListener("abort", end);
    void worker.terminate();
    wake?.();
  }

  function fail(cause: unknown): void {
    if (isOver) return;
    failure = new ResourceError("unavailable", "the folder can no longer be watched; try again", { cause });
    end();
  }

  function take(packed: string): void {
    for (const each of packed.split("\0")) queue.push(unpack(each));
    if (queue.length > maxQueued) queue = [lost];
    wake?.();
  }

  signal.addEventListener("abort", end);
  closing.addEventListener("abort", end);
  await new Promise<void>((armed, reject) => {
    worker.on("message", (message: FromWorker) => {
      if (isOver) return;
      if ("changes" in message) take(message.changes);
      else if ("armed" in message) armed();
      else if (message.polling > 0)
        log("warn", "the system has no more watches, so some folders are polled; raise fs.inotify.max_user_watches", {
          folders: message.polling,
        });
    });
    worker.on("error", (cause) => {
      fail(cause);
      reject(failure);
    });
    worker.once("exit", () => {
      fail(undefined);
      if (failure) reject(failure);
      else armed();
    });
  });

  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          const batch = queue;
          queue = [];
          for (const change of batch) {
            if (isOver) break;
            yield change;
          }
          if (isOver) break;
          if (queue.length > 0) continue;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (failure) throw failure;
      } finally {
        end();
        await gone;
      }
    },
  };
}

const nothing: AsyncIterable<SourceChange> = {
  async *[Symbol.asyncIterator]() {},
};

function unpack(packed: string): SourceChange {
  const path = packed.slice(1);
  switch (packed[0]) {
    case "a":
      return { kind: "appeared", path };
    case "g":
      return { kind: "gone", path };
    case "c":
      return { kind: "changed", path };
    default:
      return lost;
  }
}
