/** Computes the indexing status of one mount. */
import type { CrawlState } from "./crawl.ts";
import type { IndexProblem } from "./index-problem.ts";
import type { MountStatus } from "./status.ts";

export interface MountFacts extends Pick<
  MountStatus,
  "name" | "key" | "heard" | "numbering" | "documents" | "passages"
> {
  /** Absent if no crawl has started. */
  readonly crawl: CrawlState | undefined;
  /** Why the mount cannot be opened. */
  readonly failure: string | undefined;
  /** Why there is no index. */
  readonly problem: IndexProblem | undefined;
  /** True if the index has its maximum size. */
  readonly isFull: boolean;
}

/** The same mount with this many more changes that are known and not indexed. */
export function withWaiting(status: MountStatus, waiting: number): MountStatus {
  if (waiting === 0) return status;
  return {
    ...status,
    state: status.state === "complete" ? "indexing" : status.state,
    pending: status.pending + waiting,
    ready: Math.min(status.ready, status.total / (status.total + waiting), 0.99),
  };
}

const full = "the index has reached its maximum size; see search.maxBytes";

export function toMountStatus({ crawl, failure, problem, isFull, ...facts }: MountFacts): MountStatus {
  const lastError = isFull ? full : (problem?.message ?? failure ?? crawl?.lastError);
  return {
    ...facts,
    state: stateOf(crawl, failure, problem, isFull),
    ...progressOf(crawl, facts.documents, isFull),
    lastError,
  };
}

function stateOf(
  crawl: CrawlState | undefined,
  failure: string | undefined,
  problem: IndexProblem | undefined,
  isFull: boolean,
): MountStatus["state"] {
  if (problem) return "unavailable";
  if (isFull) return "full";
  return failure === undefined ? (crawl?.phase ?? "waiting") : "failing";
}

type Progress = Pick<MountStatus, "looked" | "total" | "pending" | "unread" | "ready">;

/** After a pass, what is missing is known from the changes, and the total from the store. */
function progressOf(crawl: CrawlState | undefined, documents: number, isFull: boolean): Progress {
  if (!crawl) return { looked: 0, total: 0, pending: 0, unread: 0, ready: 0 };
  const { isPassed, changes, unread } = crawl;
  const looked = isPassed ? documents : crawl.looked;
  const total = isPassed && !isFull ? documents : Math.max(crawl.total, looked);
  const pending = total - looked + changes + unread;
  const ready = isPassed ? documents / Math.max(1, documents + pending) : crawl.ready;
  return { looked, total, pending, unread, ready: isPassed && pending === 0 && !isFull ? 1 : Math.min(ready, 0.99) };
}
