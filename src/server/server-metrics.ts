/** Counts requests and their outcome for `/metrics`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Quotas } from "../access/quotas.ts";
import type { CacheStats } from "../layers/cache.ts";
import type { RequestObserver, RequestOutcome } from "../protocol/request-observer.ts";
import { allRevisions } from "../protocol/revisions/index.ts";
import type { Runtime } from "../source.ts";
import type { SharedState } from "../state/shared-state.ts";
import { createMethodNames } from "./known-methods.ts";
import type { ServerIndex } from "./server-index.ts";

export const metricsPath = "/metrics";

interface ServerMetricsOptions {
  readonly version: string;
  readonly index: Pick<ServerIndex, "status" | "follow">;
  /** Open sessions and streams. */
  readonly counts: () => { readonly sessions: number; readonly streams: number };
  /** What callers use, and requests that quotas refused. */
  readonly quotas: Pick<Quotas, "refusals" | "usage">;
  readonly cacheStats: CacheStats;
  /** What the instances of the server share. Absent in a server of one instance. */
  readonly shared?: SharedState | undefined;
  readonly runtime: Pick<Runtime, "log" | "monotonicMs" | "wait">;
}

export interface ServerMetrics extends Required<Pick<RequestObserver, "answered" | "watching">> {
  /** Handles `/metrics`. Returns false for any other path. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
  close(): void;
}

/** Outcomes and response times of one method, answered by one type of source. */
interface MethodCounts {
  /** By revision, then by outcome. */
  readonly revisions: Map<string, Map<RequestOutcome["outcome"], number>>;
  /** Number of responses per bound; the last bucket counts all that took longer. */
  readonly buckets: number[];
  seconds: number;
}

/** All counters of requests. */
export interface RequestCounts {
  /** Upper bounds of the buckets, in seconds. */
  readonly bounds: readonly number[];
  /** By method, then by type of source. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, MethodCounts>>;
  readonly listens: number;
  readonly subscriptions: number;
}

const bounds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createServerMetrics(options: ServerMetricsOptions): ServerMetrics {
  const { version, index, counts, quotas, cacheStats, shared, runtime } = options;
  const closing = new AbortController();
  const nameOf = createMethodNames();
  const knownRevisions = new Set(allRevisions.map(({ date }) => date));
  const methods = new Map<string, Map<string, MethodCounts>>();
  const tally = { bounds, methods, listens: 0, subscriptions: 0 };
  const indexLag = createIndexLag(index, runtime, closing.signal);

  function countedAs(method: string | undefined, source = "none"): MethodCounts {
    const name = nameOf(method);
    let ofMethod = methods.get(name);
    if (ofMethod === undefined) methods.set(name, (ofMethod = new Map()));
    let counted = ofMethod.get(source);
    if (counted === undefined) {
      counted = { revisions: new Map(), buckets: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 };
      ofMethod.set(source, counted);
    }
    return counted;
  }

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const [{ toText }, sharedText] = await Promise.all([import("./metrics-text.ts"), sharedFamilies()]);
      const own = toText({
        tally,
        version,
        status: index.status,
        indexLagSeconds: indexLag(),
        refusals: quotas.refusals(),
        usage: quotas.usage(),
        cacheStats,
        ...counts(),
      });
      const text = own + sharedText;
      if (response.destroyed) return;
      response.writeHead(200, {
        "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
        "Content-Length": Buffer.byteLength(text),
      });
      response.end(request.method === "HEAD" ? undefined : text);
    } catch (cause) {
      runtime.log("error", "the metrics cannot be served", { cause });
      response.destroy();
    }
  }

  async function sharedFamilies(): Promise<string> {
    if (!shared) return "";
    const { sharedFigures, sharedText } = await import("./shared-metrics.ts");
    const indexed = index.status?.mounts.map(({ name }) => name) ?? [];
    return sharedText(await sharedFigures(shared, indexed, runtime));
  }

  return {
    answered({ method, revision = "unknown", source, outcome, ms }) {
      const counted = countedAs(method, source);
      const known = knownRevisions.has(revision) ? revision : "unknown";
      let outcomes = counted.revisions.get(known);
      if (outcomes === undefined) counted.revisions.set(known, (outcomes = new Map()));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      // The duration of a listen is not a response time.
      if (method !== "subscriptions/listen") time(counted, ms / 1000);
    },

    watching(listens, uris) {
      tally.listens += listens;
      tally.subscriptions += uris;
    },

    answer(request, response, path) {
      if (path !== metricsPath) return false;
      if (request.method === "GET" || request.method === "HEAD") void tell(request, response);
      else response.writeHead(405, { Allow: "GET, HEAD, OPTIONS" }).end();
      return true;
    },

    close: () => closing.abort(),
  };
}

/** Returns the seconds since everything was last indexed; 0 while everything is, and without an index. */
function createIndexLag(
  index: ServerMetricsOptions["index"],
  { monotonicMs }: Pick<Runtime, "monotonicMs">,
  signal: AbortSignal,
): () => number {
  const isComplete = () => index.status?.mounts.every(({ ready }) => ready === 1) ?? true;
  let completeAtMs = monotonicMs();
  let wasComplete = isComplete();
  const look = () => {
    if (wasComplete) completeAtMs = monotonicMs();
    wasComplete = isComplete();
  };
  index.follow(look, signal);
  return () => {
    look();
    return wasComplete ? 0 : (monotonicMs() - completeAtMs) / 1000;
  };
}

function time(counted: MethodCounts, seconds: number): void {
  let at = 0;
  while (at < bounds.length && seconds > bounds[at]!) at += 1;
  counted.buckets[at]! += 1;
  counted.seconds += seconds;
}
