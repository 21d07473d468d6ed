/** Counts requests and their outcome for `/metrics`. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Protocol, Reply, ProtocolSession } from "../protocol/protocol.ts";
import { isJsonObject, member } from "../protocol/message.ts";
import { allRevisions } from "../protocol/revisions/index.ts";
import type { Runtime } from "../source.ts";
import type { ServerIndex } from "./server-index.ts";

export interface ServerMetricsOptions {
  readonly version: string;
  readonly index: Pick<ServerIndex, "status">;
  /** Open sessions and streams. */
  readonly counts: () => { readonly sessions: number; readonly streams: number };
  readonly log?: Runtime["log"];
}

export interface ServerMetrics {
  /** Wraps a protocol to count its requests. */
  measure(edge: Protocol): Protocol;
  /** Handles `/metrics`. Returns false for any other path. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
}

/** Outcomes and response times of one method. */
export interface MethodCounts {
  readonly outcomes: Map<string, number>;
  /** Number of responses per bound; the last bucket counts all that took longer. */
  readonly buckets: number[];
  seconds: number;
}

/** All counters, by method. */
export interface RequestCounts {
  readonly methods: ReadonlyMap<string, MethodCounts>;
  readonly listens: number;
  readonly subscriptions: number;
}

/** In seconds. */
export const bounds: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const listenMethod = "subscriptions/listen";
const headLength = '{"jsonrpc":"2.0","id":'.length;
const outcomes: Readonly<Record<string, string>> = {
  "-32002": "not-found",
  "-32600": "malformed",
  "-32601": "unknown-method",
  "-32602": "invalid",
  "-32603": "failed",
  "-32700": "malformed",
};

export function createServerMetrics({ version, index, counts, log }: ServerMetricsOptions): ServerMetrics {
  // Unknown methods count as "other": callers could make up any number of names.
  const known = new Set(["initialize", "ping", ...allRevisions.flatMap(({ asks }) => [...asks.keys()])]);
  const methods = new Map<string, MethodCounts>();
  const tally = { methods, listens: 0, subscriptions: 0 };

  function countedAs(method: unknown): MethodCounts {
    const name = typeof method === "string" && known.has(method) ? method : "other";
    let counted = methods.get(name);
    if (counted === undefined) {
      counted = { outcomes: new Map(), buckets: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 };
      methods.set(name, counted);
    }
    return counted;
  }

  /** A reply that counts the request when it is sent. Notifications pass unchanged. */
  function counting(body: unknown, reply: Reply, over?: (outcome: string) => void): Reply {
    const isBatch = Array.isArray(body);
    if (!isBatch && !(isJsonObject(body) && body["id"] !== undefined)) return reply;
    const { method, id } = isBatch ? { method: undefined, id: undefined } : body;
    const counted = countedAs(method);
    const isListen = method === listenMethod;
    const heard = isListen ? uriCount(body) : 0;
    const begun = monotonicMs();
    if (isListen) tally.listens += 1;
    tally.subscriptions += heard;
    return {
      notify: (wire) => reply.notify(wire),
      takesNotice: reply.takesNotice,
      end(wire, status) {
        const outcome = wire === undefined ? "withdrawn" : isBatch ? "ok" : outcomeOf(wire[0], id);
        counted.outcomes.set(outcome, (counted.outcomes.get(outcome) ?? 0) + 1);
        if (isListen) tally.listens -= 1;
        // The duration of a listen is not a response time.
        else time(counted, (monotonicMs() - begun) / 1000);
        tally.subscriptions -= heard;
        over?.(outcome);
        reply.end(wire, status);
      },
    };
  }

  function countSession(session: ProtocolSession, signal: AbortSignal): ProtocolSession {
    let uris: Set<string> | undefined;
    const leave = (): void => {
      tally.subscriptions -= uris?.size ?? 0;
      uris = undefined;
    };
    const settle = (method: unknown, uri: unknown): void => {
      if (typeof uri !== "string" || signal.aborted) return;
      const before = uris?.size ?? 0;
      if (uris === undefined) {
        if (method === "resources/unsubscribe") return;
        uris = new Set();
        signal.addEventListener("abort", leave, { once: true });
      }
      if (method === "resources/subscribe") uris.add(uri);
      else uris.delete(uri);
      tally.subscriptions += uris.size - before;
    };
    return {
      get revision() {
        return session.revision;
      },
      get subscriptions() {
        return session.subscriptions;
      },
      receive(body, reply) {
        const method = member(body, "method");
        const isSubscription = method === "resources/subscribe" || method === "resources/unsubscribe";
        const over = isSubscription
          ? (outcome: string) => {
              if (outcome === "ok") settle(method, member(member(body, "params"), "uri"));
            }
          : undefined;
        session.receive(body, counting(body, reply, over));
      },
      close() {
        signal.removeEventListener("abort", leave);
        leave();
        session.close();
      },
    };
  }

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { toText } = await import("./metrics-text.ts");
      const text = toText({ tally, version, status: index.status, ...counts() });
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
    measure: (edge) => ({
      ...edge,
      exchange: (body, headers, peer, reply) => edge.exchange(body, headers, peer, counting(body, reply)),
      session: (peer, options) => countSession(edge.session(peer, options), peer.signal),
    }),

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

/** The member after the id tells a result from an error. */
function outcomeOf(start: string | Uint8Array | undefined, id: unknown): string {
  if (typeof start !== "string") return "ok";
  const at = headLength + (typeof id === "string" ? JSON.stringify(id).length : String(id).length) + 1;
  const mark = '"error":{"code":';
  // An invalid request has the id null.
  if (!start.startsWith(mark, at) && !start.startsWith(mark, headLength + "null,".length)) return "ok";
  const code = /"code":(-?\d+)/.exec(start.slice(headLength, at + 40))?.[1] ?? "";
  return outcomes[code] ?? "error";
}

function uriCount(body: unknown): number {
  const uris = member(member(member(body, "params"), "notifications"), "resourceSubscriptions");
  return Array.isArray(uris) ? uris.length : 0;
}
