/**
 * Takes the text out of documents in two processes that all mounts share. Each ends when it takes too much memory, and the limits of
 * both together are the budget of the whole program. One of them always comes free for the next document within a few seconds:
 * what takes longer, or more memory than it has, waits for the other one and is read again there.
 */
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import {
  broken,
  cancelled,
  changed,
  type Failure,
  isExtractionFailure,
  type Outcome,
  tooMuchTime,
} from "./extract-outcome.ts";
import { createExtractProcess, type ExtractProcess } from "./extract-process.ts";

export interface ExtractJob {
  readonly mimeType: string;
  /** How long the document may take, from its turn on. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The document, asked for when its turn has come, so that no document waits in memory. Undefined if it is another by now. */
  load(): Promise<Buffer | undefined>;
  settle(outcome: Outcome): void;
}

export interface ExtractPool {
  add(job: ExtractJob): void;
  /** Whoever adds documents joins first. */
  join(): void;
  /** When the last one has left, nothing runs. */
  leave(): void;
}

export interface ExtractPoolOptions {
  /** Resident memory of each process: that for quick documents, and that for all others. */
  readonly maxMiB?: readonly [quick: number, large: number];
  /** How long a document may keep the first process while others wait. */
  readonly sliceMs?: number;
  /** How long an idle process is kept: starting one takes some hundredths of a second. */
  readonly idleMs?: number;
}

/** Together 496 MiB: the rest of the 512 that are promised is for what is taken between two looks at the memory. */
const defaultMiB = [176, 320] as const;

interface Lane {
  readonly maxMiB: number;
  process: ExtractProcess | undefined;
  running: Running | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

interface Running {
  readonly job: ExtractJob;
  readonly startMs: number;
  /** Ends it with this, or with nothing if it is to be read again. */
  end(reason: Failure | undefined): void;
}

export function createExtractPool({
  maxMiB: [quickMiB, largeMiB] = defaultMiB,
  sliceMs = 2000,
  idleMs = 10_000,
}: ExtractPoolOptions = {}): ExtractPool {
  const quick: Lane = { maxMiB: quickMiB, process: undefined, running: undefined, idleTimer: undefined };
  const large: Lane = { maxMiB: largeMiB, process: undefined, running: undefined, idleTimer: undefined };
  const queue: ExtractJob[] = [];
  /** What the first process could not do. */
  const largeQueue: ExtractJob[] = [];
  let users = 0;

  function begin(): void {
    if (!quick.running) start(quick, queue.shift());
    if (!large.running) start(large, largeQueue.shift() ?? queue.shift());
    const { running } = quick;
    if (queue.length > 0 && running && large.running && monotonicMs() - running.startMs >= sliceMs) {
      largeQueue.push(running.job);
      running.end(undefined);
    }
  }

  function start(lane: Lane, job: ExtractJob | undefined): void {
    if (!job) return;
    clearTimeout(lane.idleTimer);
    const timer = setTimeout(() => running.end(tooMuchTime(job.timeoutMs)), job.timeoutMs);
    const sliceTimer = setTimeout(begin, sliceMs).unref();
    const abort = (): void => running.end(cancelled);
    let isOver = false;

    const finish = (outcome: Outcome | undefined): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(sliceTimer);
      job.signal.removeEventListener("abort", abort);
      lane.running = undefined;
      lane.idleTimer = setTimeout(() => lane.process?.stop(), idleMs).unref();
      if (outcome && lane === quick && isMemory(outcome)) largeQueue.push(job);
      else if (outcome) job.settle(outcome);
      if (users > 0) begin();
    };

    const running: Running = {
      job,
      startMs: monotonicMs(),
      end(reason) {
        if (isOver) return;
        lane.process?.stop();
        finish(reason);
      },
    };
    lane.running = running;
    job.signal.addEventListener("abort", abort, { once: true });
    job
      .load()
      .catch((cause: unknown) => finish({ ...changed, cause }))
      .then((bytes) => {
        if (isOver) return;
        if (!bytes) return finish(changed);
        lane.process ??= startProcess(lane);
        lane.process.run(job.mimeType, bytes, finish);
      })
      .catch((cause: unknown) => finish(broken(cause)));
  }

  function startProcess(lane: Lane): ExtractProcess {
    const process = createExtractProcess({
      maxMiB: lane.maxMiB,
      ended() {
        if (lane.process === process) lane.process = undefined;
      },
    });
    return process;
  }

  function stopAll(): void {
    for (const lane of [quick, large]) {
      clearTimeout(lane.idleTimer);
      lane.process?.stop();
    }
  }

  return {
    add(job) {
      const leaveQueue = (): void => {
        for (const waiting of [queue, largeQueue]) {
          const at = waiting.indexOf(job);
          if (at < 0) continue;
          waiting.splice(at, 1);
          job.settle(cancelled);
        }
      };
      job.signal.addEventListener("abort", leaveQueue, { once: true });
      queue.push(job);
      begin();
    },

    join() {
      users += 1;
    },

    leave() {
      users -= 1;
      if (users === 0) stopAll();
    },
  };
}

function isMemory(outcome: Outcome): boolean {
  return isExtractionFailure(outcome) && outcome.details?.["reason"] === "too-much-memory";
}

let shared: ExtractPool | undefined;

/** The one that all mounts of this program share. */
export function sharedExtractPool(): ExtractPool {
  return (shared ??= createExtractPool());
}
