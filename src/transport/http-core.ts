/** MCP over HTTP without a runtime: checks, routing and shutdown, for `createNodeHandler` and `createFetchHandler`. */
import type { OutgoingHttpHeaders } from "node:http";
import { quote } from "../errors.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { RequestScope, runInScope } from "../lib/request-scope.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { ActionEndpoint } from "./action-endpoint.ts";
import { createCors, sendPreflight } from "./cors.ts";
import { createEventStreams } from "./event-stream.ts";
import { createGuard, isLocalHost } from "./guard.ts";
import {
  defaultBodyLimits,
  defaultEndpoint,
  defaultSse,
  type GateRefusal,
  type HandlerOptions,
} from "./handler-options.ts";
import { createInFlight } from "./in-flight.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { createMcpEndpoints, type EntryPoint, hasOwnCaller } from "./mcp-endpoints.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { createMessageReader } from "./read-message.ts";
import { readCaller } from "./read-caller.ts";
import { createRequestIds, requestIdHeader } from "./request-ids.ts";
import { createRefusals } from "./refusals.ts";
import { sendJson, unkept } from "./send-json.ts";
import { type ServedApp, servedApp } from "./served-app.ts";

/** "answered" if the gate has sent the response itself; "refused" is a 401 with the challenge of the server. */
export type GateDecision = "welcome" | "refused" | "answered" | GateRefusal;

/** What a runtime adds to the core. */
interface CoreHooks<R extends IncomingRequest> {
  /** Identifies the caller. Undefined gives a 401. Default: everyone is the same caller. */
  readonly identify?: ((request: R) => Caller | undefined | Promise<Caller | undefined>) | undefined;
  /** Checks every request on every path, after Host and Origin. */
  readonly gate?: ((request: R) => GateDecision | Promise<GateDecision>) | undefined;
  /** Sends the document at a path that everyone may read; undefined if there is none. */
  readonly document?: ((request: R) => (() => void) | undefined) | undefined;
  /** Answers a health check, whatever its Host and Origin; `isGuarded` says whether both are allowed. Undefined if there is none. */
  readonly healthCheck?: ((request: R) => ((isGuarded: boolean) => void) | undefined) | undefined;
  readonly isPage?: ((path: string) => boolean) | undefined;
  /** Handles other paths. Returns false for an unknown path. */
  readonly elsewhere?: ((request: R) => boolean) | undefined;
  readonly release?: (response: OutgoingResponse) => void;
  /** Whether requests get ids, for the log and for the response. */
  readonly hasRequestIds?: boolean | undefined;
  /** Whether closing closes the protocol for other transports, too. */
  readonly ownsProtocol?: boolean | undefined;
}

export interface HttpCore<R extends IncomingRequest> {
  /** "draining" while everything is served, and clients are told to connect elsewhere; "finishing" while received requests get their responses. */
  readonly state: "open" | "draining" | "finishing" | "closed";
  /** Responses until their last byte has been sent, including streams. */
  readonly open: ReadonlyMap<OutgoingResponse, unknown>;
  /** Open sessions and streams. */
  readonly counts: { readonly sessions: number; readonly streams: number };
  /** Whether a request is for this handler, by its path. With `elsewhere`, every request is. */
  claims(request: R): boolean;
  /** Waits for the response when closing. */
  track(response: OutgoingResponse): void;
  /** Responds. Never throws. */
  serve(request: R): void;
  refuse(response: OutgoingResponse, status: number, message: string, headers?: OutgoingHttpHeaders): void;
  /** Logs the cause, and sends status 500. */
  fail(response: OutgoingResponse, cause: unknown): void;
  drain(): void;
  close(graceMs?: number): Promise<void>;
}

const anonymous: Caller = { id: "anonymous" };
/** Time for listens to send their results after the grace period. */
const listenEndMs = 250;
/** Interval of checks while closing. */
const lookMs = 10;
/** A longer body is not even read while its caller has no quota left. A shorter one may be a cancellation. */
const shortBodyBytes = 64 * 1024;
/** Further unknown host names are refused without a line in the log. */
const maxLoggedHosts = 20;

export function createHttpCore<R extends IncomingRequest>(
  app: ServedApp | Protocol,
  options: HandlerOptions,
  hooks: CoreHooks<R>,
): HttpCore<R> {
  const { identify = () => anonymous, gate, document: findDocument, isPage, elsewhere, release, ownsProtocol } = hooks;
  const { protocol, runtime } = servedApp(app);
  const {
    endpoint = defaultEndpoint,
    sse: ssePaths = defaultSse,
    isOneCaller = true,
    challenge = "Bearer",
    allowedHosts = [],
    allowedOrigins = [],
    maxBodyBytes = defaultBodyLimits.maxBytes,
    maxUrlLength = 2048,
    authorize,
    quotas,
    posts,
    // Called as a method: a runtime may be an object of a class.
    log = (...line) => runtime.log(...line),
  } = options;

  const refusalOf = createGuard({ hosts: allowedHosts, origins: allowedOrigins, refusedHost });
  /** Says nothing in the log: balancers check by address. */
  const healthRefusalOf = createGuard({ hosts: allowedHosts, origins: allowedOrigins });
  const allowOrigin = createCors(allowedOrigins);
  const requestIdOf = hooks.hasRequestIds ? createRequestIds() : undefined;
  const refusedHosts = new Set<string>();
  const open = new Map<OutgoingResponse, string | number | null>();
  /** Identifies this handler for the protocol. */
  const transport = {};
  const refusals = createRefusals(protocol, challenge, (response) => open.get(response) ?? null);
  const { refuse, refuseBy, refuseLate, refuseQuota, refuseStranger } = refusals;
  const streams = createEventStreams({ ...options, release });
  const underWay = createInFlight();
  let state: HttpCore<R>["state"] = "open";

  const readMessage = createMessageReader(protocol, {
    authorize,
    maxBytes: maxBodyBytes,
    refusals,
    noteId: (response, id) => open.has(response) && open.set(response, id),
    isClosed: () => state === "closed",
    fail,
  });
  const mcp = createMcpEndpoints(protocol, options, {
    streams,
    underWay,
    refusals,
    readMessage,
    isOneCaller,
    post: ssePaths && ssePaths.post,
    transport,
  });

  /** Once for each: the operator decides, and clients may send any name. */
  function refusedHost(host: string): void {
    if (host === "" || refusedHosts.has(host) || refusedHosts.size >= maxLoggedHosts) return;
    refusedHosts.add(host);
    log(
      "warn",
      `refused a request for the host ${quote(host)}; if it is a name of this server, add it to allowedHosts`,
    );
  }

  function forget(this: OutgoingResponse): void {
    open.delete(this);
  }

  function serve(request: R): void {
    if (!requestIdOf) return check(request);
    const { headers, response, path } = request;
    const id = requestIdOf(headers["x-request-id"]);
    response.requestId = id;
    // Responses at the entry points have the header among their own, which is faster.
    if (!entryPointAt(path)) response.setHeader(requestIdHeader, id);
    request.scope = new RequestScope(id, one(headers["traceparent"]), one(headers["tracestate"]));
    runInScope(request.scope, () => check(request));
  }

  function check(request: R): void {
    const { response } = request;
    try {
      const { headers, method, path, connection } = request;
      if (connection.isSecure && !isLocalHost(connection.host ?? headers.host?.toLowerCase() ?? ""))
        response.setHeader("Strict-Transport-Security", "max-age=31536000");
      const answerHealth = hooks.healthCheck?.(request);
      if (answerHealth) return answerHealth(healthRefusalOf(headers, false, connection) === undefined);
      const sendDocument = findDocument?.(request);
      const checked = sendDocument ? { host: headers.host } : headers;
      const refusal = refusalOf(checked, method === "GET" && isPage?.(path), connection);
      if (refusal !== undefined) return refuse(response, 403, refusal);
      if (sendDocument) return sendDocument();
      const isAllowedOrigin = allowOrigin(response, headers.origin);
      if (request.url.length > maxUrlLength)
        return refuse(response, 414, `a URL may have ${maxUrlLength} characters at most`);
      if (method === "OPTIONS") return sendPreflight(response, isAllowedOrigin);
      const decision = hasOwnCaller(request) ? "welcome" : (gate?.(request) ?? "welcome");
      if (!(decision instanceof Promise)) return proceed(decision, request);
      decision
        .then((late) => response.destroyed || proceed(late, request))
        .catch((cause: unknown) => fail(response, cause));
    } catch (cause) {
      fail(response, cause);
    }
  }

  function proceed(decision: GateDecision, request: R): void {
    if (decision === "answered") return;
    if (decision === "refused") refuseStranger(request.response);
    else if (decision === "welcome") route(request);
    else refuseBy(request.response, decision);
  }

  function entryPointAt(path: string): EntryPoint | undefined {
    if (path === endpoint) return mcp.atEndpoint;
    if (!ssePaths) return undefined;
    if (path === ssePaths.stream) return mcp.atStream;
    return path === ssePaths.post ? mcp.atPost : undefined;
  }

  function route(request: R): void {
    const { path, response } = request;
    const entryPoint = entryPointAt(path);
    if (entryPoint) return admit(request, entryPoint);
    if (elsewhere) {
      // Defaults, which handlers may override.
      for (const [name, value] of Object.entries(unkept)) response.setHeader(name, value);
      if (elsewhere(request)) return;
    }
    if (request.method === "POST" && posts?.claims(path)) return admit(request, throughPosts(posts));
    refuseNothing(request);
  }

  function refuseNothing({ response, path, basePath, isBelowBase }: IncomingRequest): void {
    const where = quote(basePath === "" ? endpoint : basePath);
    refuse(
      response,
      404,
      `there is nothing at ${quote(isBelowBase ? basePath + path : path)}; MCP is served at ${where}`,
    );
  }

  function throughPosts({ take: takePost }: ActionEndpoint): EntryPoint {
    return (request, caller) => {
      const { path, response } = request;
      readMessage(request, { caller, actionPath: path }, (body) => {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        underWay.begin();
        takePost(path, body, { caller, client: request.clientFor(caller), signal: gone.signal })
          .then((result) => {
            if (result) sendJson(response, result.status, [result.text], result.headers);
            else refuseNothing(request);
          })
          .catch((cause: unknown) => {
            if (!gone.signal.aborted) fail(response, cause);
          })
          .finally(() => {
            if (request.scope) request.scope.isOpen = false;
            underWay.end();
          });
      });
    };
  }

  function admit(request: R, entryPoint: EntryPoint): void {
    const caller = hasOwnCaller(request) ? request.context?.caller : identify(request);
    if (caller instanceof Promise)
      caller
        .then((known) => enter(request, entryPoint, known))
        .catch((cause: unknown) => fail(request.response, cause));
    else enter(request, entryPoint, caller);
  }

  function enter(request: R, entryPoint: EntryPoint, known: Caller | undefined): void {
    const { response } = request;
    if (response.destroyed) return;
    const caller = readCaller(known);
    if (caller === undefined || caller.ended?.aborted) return refuseStranger(response);
    if (state === "closed") return refuseLate(response);
    const refusal = hasLongBody(request) ? quotas?.refusal(caller) : undefined;
    if (refusal) return refuseQuota(response, refusal);
    endWith(caller, response);
    entryPoint(request, caller);
  }

  function fail(response: OutgoingResponse, cause: unknown): void {
    log("error", "a request over HTTP failed", { cause });
    if (response.headersSent) response.destroy();
    else refuse(response, 500, "internal error; see the server's log for details");
  }

  return {
    serve,
    refuse,
    fail,
    open,
    claims(request) {
      if (elsewhere || entryPointAt(request.path) || findDocument?.(request)) return true;
      return request.method === "POST" && posts?.claims(request.path) === true;
    },
    track(response) {
      open.set(response, null);
      response.on("close", forget);
    },
    get state() {
      return state;
    },
    get counts() {
      return { sessions: mcp.sessionCount, streams: streams.size };
    },
    drain() {
      if (state === "open") state = "draining";
    },
    async close(graceMs = 5000) {
      const deadline = monotonicMs() + graceMs;
      async function until(isTrue: () => boolean): Promise<void> {
        while (!isTrue() && monotonicMs() < deadline) await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
      state = "finishing";
      // Listens are not counted as running; their responses are streams, which end later.
      await until(() => underWay.count === 0 && open.size <= streams.size);
      const ending = protocol
        .close(ownsProtocol ? undefined : transport)
        .catch((cause: unknown) => log("error", "the protocol did not close", { cause }));
      await isDoneWithin(ending, Math.max(listenEndMs, deadline - monotonicMs()));
      state = "closed";
      mcp.close();
      streams.close();
      await until(() => open.size === 0);
    },
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}

function hasLongBody({ method, headers }: IncomingRequest): boolean {
  if (method !== "POST") return false;
  return headers["content-length"] === undefined || Number(headers["content-length"]) > shortBodyBytes;
}

/** Nothing that a caller opened may outlive their admission. */
function endWith({ ended }: Caller, response: OutgoingResponse): void {
  if (!ended) return;
  const end = () => response.destroy();
  ended.addEventListener("abort", end, { once: true });
  response.once("close", () => ended.removeEventListener("abort", end));
}
