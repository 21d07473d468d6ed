/**
 * Extracts the text of documents in two processes that all mounts share. Each is killed above its memory limit; together the limits are the
 * memory budget of the program. The first process gives up on a document after a few seconds, so that the next one is not delayed; a
 * document that needs more time or memory is read again in the second.
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
  /** Time limit for the document, counted from the start of its extraction. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Loads the document when its extraction starts, so that queued documents take no memory. Undefined if it has changed. */
  load(): Promise<Buffer | undefined>;
  settle(outcome: Outcome): void;
  /** Called for each process that worked on it, with the time that this took. */
  spent?(ms: number): void;
}

export interface ExtractPool {
  add(job: ExtractJob): void;
  /** Must be called before adding documents. */
  join(): void;
  /** After the last leave, no process runs. */
  leave(): void;
}

export interface ExtractPoolOptions {
  /** Limit of the resident memory of each process: the one for quick documents, and the one for all others. */
  readonly maxMiB?: readonly [quick: number, large: number];
  /** How long a document may use the first process while others wait. */
  readonly sliceMs?: number;
  /** How long an idle process is kept: starting one takes tens of milliseconds. */
  readonly idleMs?: number;
}

/** Together 496 MiB: the rest of the promised 512 covers growth between two memory checks. */
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
  /** Ends it with this failure, or without one if it will be read again. */
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
  /** Documents that the first process gave up on. */
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
      job.spent?.(monotonicMs() - running.startMs);
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

/** The pool that all mounts of this program share. */
export function sharedExtractPool(): ExtractPool {
  return (shared ??= createExtractPool());
}
