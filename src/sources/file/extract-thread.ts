/** One thread that takes text out of documents, one after the other, and is ended when one of them takes too much. */
import { type ErrorKind, quote, ResourceError } from "../../errors.ts";
import type { DocumentFault } from "../../lib/documents/document-error.ts";

export interface DocumentText {
  readonly mimeType: string;
  /** UTF-8. */
  readonly text: Buffer;
}

export interface DocumentAsk {
  readonly mimeType: string;
  /** Equal versions mean equal documents of the same type. */
  readonly version: string | undefined;
  /** Handed over, not copied: nothing is left of them afterwards. Absent if the text is known. */
  readonly bytes?: Buffer;
}

/** Why there is no text. The sentence is completed with the path of whoever asks: others may know the document under another. */
export interface Failure {
  readonly kind: ErrorKind;
  /** What stands before the path, and behind it. */
  readonly sentence: readonly [before: string, after: string];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export type Outcome = DocumentText | Failure;

export function isFailure(outcome: Outcome): outcome is Failure {
  return "kind" in outcome;
}

export function toError({ kind, sentence: [before, after], details, cause }: Failure, path: string): ResourceError {
  return new ResourceError(kind, `${before}${quote(path)}${after}`, { cause, ...(details && { details }) });
}

/** What the thread is told. */
export interface ToWorker {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What it tells. */
export type FromWorker =
  | { readonly mimeType: string; readonly text: Uint8Array }
  | { readonly fault: DocumentFault; readonly message: string };

/** An idle thread holds memory; starting one takes some hundredths of a second. */
const idleMs = 10_000;
const documentsPerWorker = 50;
const lookEveryMs = 50;

/** No one waits for it any longer. */
export const withdrawn: Failure = { kind: "cancelled", sentence: ["the question about ", " was withdrawn"] };

export interface Thread {
  run(ask: DocumentAsk, settle: (outcome: Outcome) => void): void;
  /** Ends the thread; whatever it was at is settled with this. */
  stop(reason: Failure): void;
}

interface ThreadOptions {
  readonly timeoutMs: number;
  readonly maxMiB: number;
  /** It can take the next document. */
  ready(): void;
  gone(): void;
}

export function createThread({ timeoutMs, maxMiB, ready, gone }: ThreadOptions): Thread {
  // Threads cost milliseconds to load, and serving starts without them.
  const { Worker: Thread } = process.getBuiltinModule("node:worker_threads");
  const worker = new Thread(new URL("./extract-worker.ts", import.meta.url), {
    name: "pressmark-file-text",
    env: {},
    execArgv: [],
    // What a reader of documents prints is for no one, and where we answer on stdout it would be taken for an answer.
    stdout: true,
    stderr: true,
    // The last line of defence: buffers do not count here, and the watch below ends the thread well before.
    resourceLimits: { maxOldGenerationSizeMb: 2 * maxMiB, stackSizeMb: 4 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  let running: { readonly ask: DocumentAsk; readonly settle: (outcome: Outcome) => void } | undefined;
  let timers: NodeJS.Timeout[] = [];
  let documents = 0;
  let isOver = false;

  function over(outcome: Outcome): void {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
    const { settle } = running ?? {};
    running = undefined;
    settle?.(outcome);
  }

  function stop(reason: Failure): void {
    if (isOver) return;
    isOver = true;
    void worker.terminate();
    over(reason);
    gone();
  }

  /** Looks from outside, because a thread that is busy with a document does not look at itself. */
  function watchMemory(): void {
    const looked = worker.getHeapStatistics();
    looked.then(
      ({ total_heap_size: heap, external_memory: buffers }) => {
        if (running && heap + buffers > maxMiB * 1024 * 1024) stop(overrun("memory", `${maxMiB} MiB of memory`));
      },
      () => undefined,
    );
  }

  worker.on("message", (told: FromWorker) => {
    if (!running) return;
    over("fault" in told ? toFailure(told) : { mimeType: told.mimeType, text: asBuffer(told.text) });
    if (documents >= documentsPerWorker) return stop(withdrawn);
    timers.push(setTimeout(() => stop(withdrawn), idleMs).unref());
    ready();
  });
  worker.on("error", (cause: NodeJS.ErrnoException) => {
    if (!running) return stop(withdrawn);
    const isMemory = cause.code === "ERR_WORKER_OUT_OF_MEMORY";
    stop(isMemory ? overrun("memory", `${maxMiB} MiB of memory`) : broken(cause));
  });
  worker.once("exit", () => stop(running ? broken() : withdrawn));

  return {
    run(ask, settle) {
      for (const timer of timers) clearTimeout(timer);
      documents += 1;
      running = { ask, settle };
      const { bytes = Buffer.alloc(0), mimeType } = ask;
      timers = [
        setTimeout(() => stop(overrun("time", `${timeoutMs} ms`)), timeoutMs),
        setInterval(watchMemory, lookEveryMs).unref(),
      ];
      const told: ToWorker = { mimeType, bytes };
      const isOwn = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
      worker.postMessage(told, isOwn && bytes.byteLength > 0 ? [bytes.buffer as ArrayBuffer] : []);
    },
    stop,
  };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function overrun(reason: "time" | "memory", what: string): Failure {
  return {
    kind: "too-large",
    sentence: ["taking the text out of ", ` took more than ${what}; ask without "as"`],
    details: { reason: `too-much-${reason}` },
  };
}

function broken(cause?: unknown): Failure {
  return { kind: "unexpected", sentence: ["the text of ", " could not be taken out"], cause };
}

function toFailure({ fault, message }: { readonly fault: DocumentFault; readonly message: string }): Failure {
  const sentence = ["no text can be taken out of ", `: ${message}`] as const;
  if (fault === "missing-package") return { kind: "unsupported", sentence };
  return { kind: fault === "too-large" ? "too-large" : "invalid", sentence, details: { reason: fault } };
}
