/** The text of documents, taken out in threads of their own: a document that eats time or memory costs its own thread, no more. */
import { type ErrorKind, quote, ResourceError } from "../../errors.ts";
import { documentTypes } from "../../lib/documents/document-types.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import {
  createThread,
  type DocumentAsk,
  type DocumentText,
  isFailure,
  type Outcome,
  type Thread,
  toError,
  withdrawn,
} from "./extract-thread.ts";

export interface Extract {
  /** Whether the text of this version is at hand, or that there is none. */
  knows(version: string | undefined): boolean;
  /** The text of a document. Asked for twice at the same time, it is taken out once. */
  text(document: DocumentAsk & { readonly path: string }, signal: AbortSignal): Promise<DocumentText>;
  /** Afterwards nothing runs. */
  close(): void;
}

export interface ExtractOptions {
  readonly timeoutMs?: number;
  /** What a document may take while it is read, heap and buffers together. */
  readonly maxMiB?: number;
  /** How many documents are read at once. */
  readonly maxAtOnce?: number;
  readonly maxKeptBytes?: number;
}

export function isDocumentType(mimeType: string): boolean {
  return documentTypes.has(mimeType);
}

interface Job {
  readonly ask: DocumentAsk;
  readonly answer: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
  /** How many still want the answer. */
  waiting: number;
  /** Ends the thread that is at it. */
  stop: (() => void) | undefined;
}

const maxWaiting = 64;
/** Faults of the document, which would be the same the next time. */
const lasting: ReadonlySet<ErrorKind> = new Set(["invalid", "too-large"]);
/** A document that took too long may have come at a bad moment. */
const failureMs = 300_000;

interface Kept {
  readonly outcome: Outcome;
  readonly untilMs: number;
}

export function createExtract({
  timeoutMs = 20_000,
  maxMiB = 512,
  maxAtOnce = 2,
  maxKeptBytes = 32 * 1024 * 1024,
}: ExtractOptions = {}): Extract {
  /** By version, the least recently used first. */
  const kept = new Map<string, Kept>();
  let keptBytes = 0;
  const jobs = new Map<string, Job>();
  const queue: Job[] = [];
  const idle: Thread[] = [];
  const threads = new Set<Thread>();
  let isClosed = false;

  function keep(version: string, outcome: Outcome): void {
    drop(version);
    kept.set(version, { outcome, untilMs: isFailure(outcome) ? monotonicMs() + failureMs : Infinity });
    keptBytes += costOf(outcome);
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxKeptBytes) return;
      drop(oldest);
    }
  }

  function drop(version: string): void {
    const known = kept.get(version);
    if (known === undefined) return;
    kept.delete(version);
    keptBytes -= costOf(known.outcome);
  }

  /** What came of a version before; it counts as used. */
  function find(version: string | undefined): Outcome | undefined {
    const known = version === undefined ? undefined : kept.get(version);
    if (version === undefined || known === undefined) return undefined;
    if (known.untilMs < monotonicMs()) return void drop(version);
    kept.delete(version);
    kept.set(version, known);
    return known.outcome;
  }

  function enqueue(ask: DocumentAsk): Job {
    if (queue.length >= maxWaiting)
      throw new ResourceError("busy", "many documents are being read just now; come back in a second", {
        details: { retryAfterMs: 1000 },
      });
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const settle = (outcome: Outcome): void => {
      if (ask.version !== undefined) {
        jobs.delete(ask.version);
        if (!isFailure(outcome) || lasting.has(outcome.kind)) keep(ask.version, outcome);
      }
      resolve(outcome);
    };
    const job: Job = { ask, answer: promise, settle, waiting: 0, stop: undefined };
    if (ask.version !== undefined) jobs.set(ask.version, job);
    queue.push(job);
    begin();
    return job;
  }

  function begin(): void {
    while (queue.length > 0) {
      const thread = idle.pop() ?? (threads.size < maxAtOnce ? startThread() : undefined);
      if (!thread) return;
      const job = queue.shift() as Job;
      job.stop = () => thread.stop(withdrawn);
      thread.run(job.ask, job.settle);
    }
  }

  function startThread(): Thread {
    const thread = createThread({
      timeoutMs,
      maxMiB,
      ready: () => {
        idle.push(thread);
        begin();
      },
      gone: () => {
        threads.delete(thread);
        const at = idle.indexOf(thread);
        if (at >= 0) idle.splice(at, 1);
        begin();
      },
    });
    threads.add(thread);
    return thread;
  }

  function leave(job: Job): void {
    job.waiting -= 1;
    if (job.waiting > 0) return;
    const at = queue.indexOf(job);
    if (at >= 0) {
      queue.splice(at, 1);
      job.settle(withdrawn);
    } else job.stop?.();
  }

  function waitFor(job: Job, signal: AbortSignal): Promise<Outcome> {
    job.waiting += 1;
    return new Promise((resolve) => {
      const off = (): void => {
        resolve(withdrawn);
        leave(job);
      };
      signal.addEventListener("abort", off, { once: true });
      void job.answer.then((outcome) => {
        signal.removeEventListener("abort", off);
        resolve(outcome);
      });
    });
  }

  return {
    knows: (version) => find(version) !== undefined,

    async text({ path, ...ask }, signal) {
      if (isClosed || signal.aborted) throw toError(withdrawn, path);
      const { version, bytes } = ask;
      let outcome = find(version);
      if (!outcome) {
        const under = version === undefined ? undefined : jobs.get(version);
        if (!under && !bytes)
          throw new ResourceError("unavailable", `the text of ${quote(path)} was let go just now; try again`);
        outcome = await waitFor(under ?? enqueue(ask), signal);
      }
      if (isFailure(outcome)) throw toError(outcome, path);
      return outcome;
    },

    close() {
      isClosed = true;
      for (const job of queue.splice(0)) job.settle(withdrawn);
      for (const thread of threads) thread.stop(withdrawn);
      kept.clear();
      keptBytes = 0;
    },
  };
}

function costOf(outcome: Outcome): number {
  return 512 + (isFailure(outcome) ? 0 : outcome.text.length);
}
