/** The text of the documents of one mount: taken out once for all who ask, and kept by version. */
import { type ErrorKind, quote, ResourceError } from "../../errors.ts";
import { documentTypes } from "../../lib/documents/document-types.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import {
  cancelled,
  changed,
  type ExtractedText,
  isExtractionFailure,
  type Outcome,
  toError,
} from "./extract-outcome.ts";
import { type ExtractPool, sharedExtractPool } from "./extract-pool.ts";

export interface Extract {
  /** Whether the text of this version is at hand, or that there is none. */
  knows(version: string | undefined): boolean;
  /** The text of a document. Asked for twice at the same time, it is taken out once. */
  text(document: DocumentRequest, signal: AbortSignal): Promise<ExtractedText>;
  /** Afterwards nothing runs. */
  close(): void;
}

export interface DocumentRequest {
  /** As the caller knows it. */
  readonly path: string;
  readonly mimeType: string;
  /** Equal versions mean equal documents of the same type. */
  readonly version: string | undefined;
  /** The document, or how to get it when its turn has come. Absent if its text is known. */
  readonly bytes?: Buffer | (() => Promise<Buffer | undefined>) | undefined;
}

export interface ExtractOptions {
  readonly timeoutMs?: number;
  readonly maxKeptBytes?: number;
  readonly pool?: ExtractPool;
}

export function isDocumentType(mimeType: string): boolean {
  return documentTypes.has(mimeType);
}

/** Whether a document was another one when its turn came. */
export function isChanged(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === changed.details?.["reason"];
}

interface Job {
  readonly answer: Promise<Outcome>;
  /** How many still want the answer. */
  waiting: number;
  readonly stop: AbortController;
}

/** Documents of one mount that wait or are read. */
const maxJobs = 64;
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
  maxKeptBytes = 32 * 1024 * 1024,
  pool = sharedExtractPool(),
}: ExtractOptions = {}): Extract {
  /** By version, the least recently used first. */
  const kept = new Map<string, Kept>();
  let keptBytes = 0;
  const jobs = new Set<Job>();
  const jobsByVersion = new Map<string, Job>();
  let isClosed = false;
  pool.join();

  function keep(version: string, outcome: Outcome): void {
    drop(version);
    kept.set(version, { outcome, untilMs: isExtractionFailure(outcome) ? monotonicMs() + failureMs : Infinity });
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

  function enqueue({ version, mimeType, bytes }: DocumentRequest): Job {
    if (jobs.size >= maxJobs)
      throw new ResourceError("busy", "many documents are being read just now; come back in a second", {
        details: { retryAfterMs: 1000 },
      });
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const stop = new AbortController();
    const job: Job = { answer: promise, waiting: 0, stop };
    jobs.add(job);
    if (version !== undefined) jobsByVersion.set(version, job);
    pool.add({
      mimeType,
      timeoutMs,
      signal: stop.signal,
      load: typeof bytes === "function" ? bytes : async () => bytes,
      settle(outcome) {
        jobs.delete(job);
        if (version !== undefined && jobsByVersion.get(version) === job) jobsByVersion.delete(version);
        if (version !== undefined && (!isExtractionFailure(outcome) || lasting.has(outcome.kind)))
          keep(version, outcome);
        resolve(outcome);
      },
    });
    return job;
  }

  function leave(job: Job, version: string | undefined): void {
    job.waiting -= 1;
    if (job.waiting > 0) return;
    // Whoever asks from now on asks anew.
    if (version !== undefined && jobsByVersion.get(version) === job) jobsByVersion.delete(version);
    job.stop.abort();
  }

  function waitFor(job: Job, version: string | undefined, signal: AbortSignal): Promise<Outcome> {
    job.waiting += 1;
    return new Promise((resolve) => {
      const off = (): void => {
        resolve(cancelled);
        leave(job, version);
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

    async text(document, signal) {
      const { path, version, bytes } = document;
      if (isClosed || signal.aborted) throw toError(cancelled, path);
      let outcome = find(version);
      if (!outcome) {
        const job = version === undefined ? undefined : jobsByVersion.get(version);
        if (!job && !bytes)
          throw new ResourceError("unavailable", `the text of ${quote(path)} was let go just now; try again`);
        outcome = await waitFor(job ?? enqueue(document), version, signal);
      }
      if (isExtractionFailure(outcome)) throw toError(outcome, path);
      return outcome;
    },

    close() {
      if (isClosed) return;
      isClosed = true;
      for (const job of jobs) job.stop.abort();
      pool.leave();
      kept.clear();
      keptBytes = 0;
    },
  };
}

function costOf(outcome: Outcome): number {
  return 512 + (isExtractionFailure(outcome) ? 0 : outcome.text.length);
}
