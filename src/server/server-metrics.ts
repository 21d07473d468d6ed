/** Counts requests and their outcome for `/metrics`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { QuotaRefusals } from "../access/quotas.ts";
import type { RequestObserver } from "../protocol/request-observer.ts";
import { allRevisions } from "../protocol/revisions/index.ts";
import type { Runtime } from "../source.ts";
import type { ServerIndex } from "./server-index.ts";

interface ServerMetricsOptions {
  readonly version: string;
  readonly index: Pick<ServerIndex, "status">;
  /** Open sessions and streams. */
  readonly counts: () => { readonly sessions: number; readonly streams: number };
  /** Requests that quotas refused. */
  readonly refusals?: () => readonly QuotaRefusals[];
  readonly log?: Runtime["log"];
}

export interface ServerMetrics extends Required<Pick<RequestObserver, "answered" | "watching">> {
  /** Handles `/metrics`. Returns false for any other path. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
}

/** Outcomes and response times of one method. */
interface MethodCounts {
  readonly outcomes: Map<string, number>;
  /** Number of responses per bound; the last bucket counts all that took longer. */
  readonly buckets: number[];
  seconds: number;
}

/** All counters, by method. */
export interface RequestCounts {
  /** Upper bounds of the buckets, in seconds. */
  readonly bounds: readonly number[];
  readonly methods: ReadonlyMap<string, MethodCounts>;
  readonly listens: number;
  readonly subscriptions: number;
}

const bounds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createServerMetrics({
  version,
  index,
  counts,
  refusals = () => [],
  log,
}: ServerMetricsOptions): ServerMetrics {
  // Unknown methods count as "other": callers could make up any number of names.
  const known = new Set(["initialize", "ping", ...allRevisions.flatMap(({ asks }) => [...asks.keys()])]);
  const methods = new Map<string, MethodCounts>();
  const tally = { bounds, methods, listens: 0, subscriptions: 0 };

  function countedAs(method: string | undefined): MethodCounts {
    const name = method !== undefined && known.has(method) ? method : "other";
    let counted = methods.get(name);
    if (counted === undefined) {
      counted = { outcomes: new Map(), buckets: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 };
      methods.set(name, counted);
    }
    return counted;
  }

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { toText } = await import("./metrics-text.ts");
      const text = toText({ tally, version, status: index.status, refusals: refusals(), ...counts() });
      if (response.destroyed) return;
      response.writeHead(200, {
        "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
        "Content-Length": Buffer.byteLength(text),
      });
      response.end(request.method === "HEAD" ? undefined : text);
    } catch (cause) {
      log?.("error", "the metrics cannot be served", { cause });
      response.destroy();
    }
  }

  return {
    answered({ method, outcome, ms }) {
      const counted = countedAs(method);
      counted.outcomes.set(outcome, (counted.outcomes.get(outcome) ?? 0) + 1);
      // The duration of a listen is not a response time.
      if (method !== "subscriptions/listen") time(counted, ms / 1000);
    },

    watching(listens, uris) {
      tally.listens += listens;
      tally.subscriptions += uris;
    },

    answer(request, response, path) {
      if (path !== "/metrics") return false;
      if (request.method === "GET" || request.method === "HEAD") void tell(request, response);
      else response.writeHead(405, { Allow: "GET, HEAD, OPTIONS" }).end();
      return true;
    },
  };
}

function time(counted: MethodCounts, seconds: number): void {
  let at = 0;
  while (at < bounds.length && seconds > bounds[at]!) at += 1;
  counted.buckets[at]! += 1;
  counted.seconds += seconds;
}
