/** The text of the documents of one mount: extracted once for concurrent callers, and cached by version. */
import { Lru } from "../../lib/lru.ts";
import { type ErrorKind, quote, ResourceError, unavailable } from "../../errors.ts";
import { type CostAccount, costAccount } from "../../lib/cost-account.ts";
import { documentTypes } from "./document-types.ts";
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
  /** Whether the text of this version, or its failure, is cached. */
  knows(version: string | undefined): boolean;
  /** The text of a document. Concurrent calls share one extraction. */
  text(document: DocumentRequest, signal: AbortSignal): Promise<ExtractedText>;
  /** Afterwards nothing runs. */
  close(): void;
}

interface DocumentRequest {
  /** As the caller knows it. */
  readonly path: string;
  readonly mimeType: string;
  /** Equal versions mean equal documents of the same type. */
  readonly version: string | undefined;
  /** The document, or a function that loads it when its extraction starts. Absent if its text is cached. */
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

/** Whether the document had changed when its extraction started. */
export function isChanged(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.details?.["reason"] === changed.details?.["reason"];
}

interface Job {
  readonly answer: Promise<Outcome>;
  /** Number of callers that wait for the result. */
  waiting: number;
  readonly stop: AbortController;
  /** Everyone who waits or waited for it is charged for the whole. */
  readonly accounts: Set<CostAccount>;
}

/** Limit of queued and running documents of one mount. */
const maxJobs = 64;
/** Failures of the document itself, which would happen again. */
const lasting: ReadonlySet<ErrorKind> = new Set(["invalid", "too-large"]);
/** Timeouts are cached only this long: the machine may have been busy. */
const failureMs = 300_000;

interface CachedOutcome {
  readonly outcome: Outcome;
  readonly untilMs: number;
}

export function createExtract({
  timeoutMs = 20_000,
  maxKeptBytes = 32 * 1024 * 1024,
  pool = sharedExtractPool(),
}: ExtractOptions = {}): Extract {
  /** By version. */
  const cached = new Lru<string, CachedOutcome>({ maxSize: maxKeptBytes, sizeOf: ({ outcome }) => costOf(outcome) });
  const jobs = new Set<Job>();
  const jobsByVersion = new Map<string, Job>();
  let isClosed = false;
  pool.join();

  function store(version: string, outcome: Outcome): void {
    cached.set(version, { outcome, untilMs: isExtractionFailure(outcome) ? monotonicMs() + failureMs : Infinity });
  }

  /** The cached result of a version; marks it as used. */
  function find(version: string | undefined): Outcome | undefined {
    const known = version === undefined ? undefined : cached.get(version);
    if (version === undefined || known === undefined) return undefined;
    if (known.untilMs >= monotonicMs()) return known.outcome;
    cached.delete(version);
    return undefined;
  }

  function enqueue({ version, mimeType, bytes }: DocumentRequest): Job {
    if (jobs.size >= maxJobs)
      throw new ResourceError("busy", "too many documents are being read; try again in a second", {
        details: { retryAfterMs: 1000 },
      });
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const stop = new AbortController();
    const job: Job = { answer: promise, waiting: 0, stop, accounts: new Set() };
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
          store(version, outcome);
        resolve(outcome);
      },
      spent(ms) {
        for (const account of job.accounts) account.charge("processMs", ms);
      },
    });
    return job;
  }

  function leave(job: Job, version: string | undefined): void {
    job.waiting -= 1;
    if (job.waiting > 0) return;
    // Later callers start a new extraction.
    if (version !== undefined && jobsByVersion.get(version) === job) jobsByVersion.delete(version);
    job.stop.abort();
  }

  function waitFor(job: Job, version: string | undefined, signal: AbortSignal): Promise<Outcome> {
    job.waiting += 1;
    const account = costAccount();
    if (account) job.accounts.add(account);
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
        if (!job && !bytes) throw unavailable(`the text of ${quote(path)} is no longer cached; try again`);
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
      cached.clear();
    },
  };
}

function costOf(outcome: Outcome): number {
  return 512 + (isExtractionFailure(outcome) ? 0 : outcome.text.length);
}
