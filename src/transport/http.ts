/** MCP over HTTP, all revisions on one endpoint: checks, routing and responses. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { QuotaError, quote } from "../errors.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { CallerQuotas } from "../protocol/caller-quotas.ts";
import type { Protocol, HeaderLookup } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { isJson, parseAccept } from "./accepts.ts";
import type { Accepts } from "./accepts.ts";
import type { ActionEndpoint } from "./action-endpoint.ts";
import { retryAfter, sendJson, unkept } from "./send-json.ts";
import { createBodyReader, discard } from "./body.ts";
import { type Client, clientOf, proxiedClient } from "./clients.ts";
import type { EventStreamOptions } from "./event-stream.ts";
import { createEventStreams } from "./event-stream.ts";
import { type ForwardedReader, forwardedAddress, forwardedHost, isSecure, requestedHost } from "./forwarded.ts";
import { createGuard, isLocalHost, toOrigins } from "./guard.ts";
import type { LegacySession, LegacySessionOptions } from "./legacy-sessions.ts";
import { createLegacySessions, sessionEnded } from "./legacy-sessions.ts";
import { exchange } from "./modern-exchange.ts";
import { parseMessageBytes } from "./parse-message.ts";
import { createSse } from "./sse.ts";
import { sendInOrder, isEarly } from "./send-in-order.ts";
import { createInFlight } from "./in-flight.ts";

/** Why a request is not served. */
export interface GateRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: OutgoingHttpHeaders;
}

/** "answered" if the gate has sent the response itself; "refused" is a 401 with the challenge of the server. */
export type GateDecision = "welcome" | "refused" | "answered" | GateRefusal;

export type RequestGate = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => GateDecision | Promise<GateDecision>;

/** Answers any request for a document that everyone may read. */
export type PublicDocument = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpOptions extends EventStreamOptions, LegacySessionOptions {
  /** Path of the MCP endpoint. */
  readonly endpoint?: string;
  /** Paths of the 2024-11-05 transport: a stream, and a path to post to. False disables it. */
  readonly sse?: { readonly stream: string; readonly post: string } | false;
  /** Checks every request on every path, after Host and Origin. */
  readonly gate?: RequestGate;
  /** Returns the document at a path that everyone may read, from pages of any origin. The host is checked; the gate is not asked. */
  readonly publicDocument?: (path: string) => PublicDocument | undefined;
  /** Checks what was posted before it is handled: a message, or the input of the action at a path. Default: all is allowed. */
  readonly authorize?: (
    caller: Caller,
    body: unknown,
    actionPath?: string,
  ) => GateRefusal | undefined | Promise<GateRefusal | undefined>;
  /** Identifies the caller. Undefined gives a 401. Default: everyone is the same caller. */
  readonly identify?: (request: IncomingMessage) => Caller | undefined | Promise<Caller | undefined>;
  /** Whether `identify` returns the same caller for everyone: then connections share limits. Default without `identify`: true. */
  readonly isOneCaller?: boolean;
  /** What each caller may use; the protocol counts requests. Default: no limits per caller. */
  readonly quotas?: CallerQuotas;
  /** The `WWW-Authenticate` of a 401. */
  readonly challenge?: string;
  /** Host names besides localhost, with or without a port. "*" allows any. */
  readonly allowedHosts?: readonly string[];
  /** Additional origins whose pages may send requests and read the responses (CORS). */
  readonly allowedOrigins?: readonly string[];
  /** What proxies say about clients. Default: nothing that they say counts. */
  readonly forwarded?: ForwardedReader;
  /** Limit of one body. */
  readonly maxBodyBytes?: number;
  /** Limit of all bodies that are arriving. */
  readonly maxArrivingBytes?: number;
  readonly maxUrlLength?: number;
  /** Limit of open streams: listens, session streams, and those of 2024-11-05. */
  readonly maxStreams?: number;
  /** Whether a path is that of a page without data, which links from other sites may open. */
  readonly isPage?: (path: string) => boolean;
  /** Handles JSON posted to other paths. */
  readonly posts?: ActionEndpoint;
  /** Handles other paths, after the same checks. Returns false for an unknown path. */
  readonly elsewhere?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
  readonly log?: Runtime["log"];
}

export interface Http {
  /** Handles any request of a `node:http` server. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** For `checkContinue`: sends "100 Continue" only if the body is wanted. Never throws. */
  handleExpectation(request: IncomingMessage, response: ServerResponse): void;
  /** Open sessions and streams. */
  readonly counts: { readonly sessions: number; readonly streams: number };
  /**
   * Responds to received requests within the grace period, with `Connection: close`. Then ends every listen with its result, and all
   * sessions and streams. Later requests get 503.
   */
  close(graceMs?: number): Promise<void>;
}

const invalidRequest = -32600;
const parseError = -32700;
const internalError = -32603;

const tooManySessions = "too many sessions are open; try again later";
const anonymous: Caller = { id: "anonymous" };
/** Time for listens to send their results after the grace period. */
const listenEndMs = 250;
/** Interval of checks while closing. */
const lookMs = 10;
const thenClose = { Connection: "close" };
/** A longer body is not even read while its caller has no quota left. A shorter one may be a cancellation. */
const shortBodyBytes = 64 * 1024;
const methods = "GET, POST, DELETE, OPTIONS";
const corsHeaders =
  "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

/** What pages of other origins may send. */
const permissions = {
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers": corsHeaders,
  "Access-Control-Max-Age": 7200,
};

export function createHttp(edge: Protocol, options: HttpOptions = {}): Http {
  const {
    endpoint = "/mcp",
    sse: ssePaths = { stream: "/sse", post: "/messages" },
    identify = () => anonymous,
    isOneCaller = options.identify === undefined,
    challenge = "Bearer",
    allowedHosts = [],
    allowedOrigins = [],
    maxBodyBytes = 4 * 1024 * 1024,
    maxArrivingBytes = 256 * 1024 * 1024,
    maxUrlLength = 2048,
    maxStreams = 18_000,
    forwarded,
    gate,
    publicDocument,
    quotas,
    authorize,
    isPage = () => false,
    posts,
    elsewhere,
    log,
  } = options;

  const refusalOf = createGuard({ hosts: allowedHosts, origins: allowedOrigins });
  const sharedOrigins = toOrigins(allowedOrigins);
  const readBody = createBodyReader({ maxBytes: maxBodyBytes, maxTotalBytes: maxArrivingBytes });
  const streams = createEventStreams(options);
  const underWay = createInFlight();
  const sessions = createLegacySessions(edge, streams, underWay, options);
  const sse = ssePaths && createSse(edge, streams, underWay, { ...options, post: ssePaths.post });
  /** Requests that wait for "100 Continue". */
  const expectant = new WeakSet<IncomingMessage>();
  /** Responses until their last byte has been sent, including streams; with the id of the request, once it has been read. */
  const open = new Map<ServerResponse, string | number | null>();
  let state: "open" | "finishing" | "closed" = "open";

  function refuse(response: ServerResponse, status: number, message: string, headers?: OutgoingHttpHeaders): void {
    const code = status >= 500 ? internalError : invalidRequest;
    sendJson(response, status, edge.error(idFor(response), code, message), headers);
  }

  function idFor(response: ServerResponse): string | number | null {
    return open.get(response) ?? null;
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // No response is possible on this connection; its bytes are read, because unread ones would reset it.
    if (request.socket.writableEnded || (state !== "open" && !staysOpenFor(request))) return void request.resume();
    open.set(response, null);
    response.on("close", forget);
    if (!isEarly(response)) return guarded(request, response);
    sendInOrder(request, response, () => guarded(request, response));
  }

  function forget(this: ServerResponse): void {
    open.delete(this);
  }

  /** While closing, the last response of a connection closes it, so that its client connects elsewhere. */
  function closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    for (const other of open.keys()) if (other !== response && other.req.socket === response.req.socket) return;
    response.setHeader("Connection", "close");
  }

  /** Whether earlier responses leave the connection of this request open; those that have not begun will do so. */
  function staysOpenFor({ socket }: IncomingMessage): boolean {
    for (const earlier of open.keys()) {
      if (earlier.req.socket !== socket || earlier.getHeader("Connection") === undefined) continue;
      if (earlier.headersSent || expectant.has(earlier.req)) return false;
      earlier.removeHeader("Connection");
    }
    return true;
  }

  function guarded(request: IncomingMessage, response: ServerResponse): void {
    try {
      if (state !== "open") closeAfter(response);
      const { headers, method, url = "/" } = request;
      const { origin } = headers;
      const path = url === endpoint ? url : pathOf(url);
      if (namesTwoHosts(request.rawHeaders)) return refuse(response, 400, "send one Host header", thenClose);
      forwarded?.note(request);
      const connection = { host: forwardedHost(request), isSecure: isSecure(request) };
      if (connection.isSecure && !isLocalHost(requestedHost(request)))
        response.setHeader("Strict-Transport-Security", "max-age=31536000");
      const document = publicDocument?.(path);
      const checked = document ? { host: headers.host } : headers;
      const refusal = refusalOf(checked, method === "GET" && isPage(path), connection);
      if (refusal !== undefined) return refuse(response, 403, refusal);
      if (document) return document(request, response);
      const isShared = origin !== undefined && sharedOrigins.has(origin.toLowerCase());
      if (sharedOrigins.size > 0) response.setHeader("Vary", "Origin");
      if (isShared) allowOrigin(response, origin);
      if (url.length > maxUrlLength) return refuse(response, 414, `a URL may have ${maxUrlLength} characters at most`);
      if (method === "OPTIONS") return preflight(response, isShared);
      const decision = gate?.(request, response, path) ?? "welcome";
      if (!(decision instanceof Promise)) return proceed(decision, path, request, response);
      decision
        .then((late) => response.destroyed || proceed(late, path, request, response))
        .catch((cause: unknown) => fail(response, cause));
    } catch (cause) {
      fail(response, cause);
    }
  }

  function proceed(decision: GateDecision, path: string, request: IncomingMessage, response: ServerResponse): void {
    if (decision === "answered") return;
    if (decision === "refused") refuseStranger(response);
    else if (decision === "welcome") route(path, request, response);
    else refuseBy(decision, response);
  }

  function refuseBy({ status, message, headers }: GateRefusal, response: ServerResponse): void {
    refuse(response, status, message, headers);
  }

  function route(path: string, request: IncomingMessage, response: ServerResponse): void {
    if (path === endpoint) return admit(request, response, atEndpoint);
    if (sse && ssePaths) {
      if (path === ssePaths.stream) return admit(request, response, atStream);
      if (path === ssePaths.post) return admit(request, response, atPost);
    }
    if (elsewhere) {
      // Defaults, which handlers may override.
      for (const [name, value] of Object.entries(unkept)) response.setHeader(name, value);
      if (elsewhere(request, response, path)) return;
    }
    if (request.method === "POST" && posts?.claims(path)) return admit(request, response, throughPosts(posts, path));
    refuseNothing(response, path);
  }

  function refuseNothing(response: ServerResponse, path: string): void {
    refuse(response, 404, `there is nothing at ${quote(path)}; MCP is served at ${quote(endpoint)}`);
  }

  function throughPosts({ take: takePost }: ActionEndpoint, path: string): Endpoint {
    return (request, response, caller) =>
      readMessage(request, response, { caller, actionPath: path }, (body) => {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        underWay.begin();
        takePost(path, body, { caller, client: clientFor(request, caller), signal: gone.signal })
          .then((result) => {
            if (result) sendJson(response, result.status, [result.text], result.headers);
            else refuseNothing(response, path);
          })
          .catch((cause: unknown) => {
            if (!gone.signal.aborted) fail(response, cause);
          })
          .finally(() => underWay.end());
      });
  }

  type Endpoint = (request: IncomingMessage, response: ServerResponse, caller: Caller) => void;

  function admit(request: IncomingMessage, response: ServerResponse, entryPoint: Endpoint): void {
    const caller = identify(request);
    if (caller instanceof Promise)
      caller
        .then((known) => enter(request, response, entryPoint, known))
        .catch((cause: unknown) => fail(response, cause));
    else enter(request, response, entryPoint, caller);
  }

  function enter(
    request: IncomingMessage,
    response: ServerResponse,
    entryPoint: Endpoint,
    caller: Caller | undefined,
  ): void {
    if (response.destroyed) return;
    if (caller === undefined) return refuseStranger(response);
    if (state === "closed") return refuseLate(response);
    const refusal = hasLongBody(request) ? quotas?.refusal(caller) : undefined;
    if (refusal) return refuseQuota(response, refusal);
    endWith(caller, response);
    entryPoint(request, response, caller);
  }

  function refuseQuota(response: ServerResponse, { message, details, retryAfterMs }: QuotaError): void {
    sendJson(response, 429, edge.error(idFor(response), internalError, message, details), retryAfter(retryAfterMs));
  }

  /** A stream counts as a listen until it is closed. Sends an error if the caller may hold no more. */
  function holdsStream(caller: Caller, response: ServerResponse): boolean {
    try {
      const release = quotas?.listen(caller, 1);
      if (release) response.once("close", release);
      return true;
    } catch (cause) {
      if (!(cause instanceof QuotaError)) throw cause;
      refuseQuota(response, cause);
      return false;
    }
  }

  function refuseStranger(response: ServerResponse): void {
    refuse(response, 401, "authentication required; send an Authorization header", { "WWW-Authenticate": challenge });
  }

  function refuseLate(response: ServerResponse): void {
    refuse(response, 503, "this server is shutting down; try again soon", { ...thenClose, "Retry-After": 5 });
  }

  function atEndpoint(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    switch (request.method) {
      case "POST":
        return readMessage(request, response, { caller }, (body, accepts) =>
          take(body, accepts, request, response, caller),
        );
      case "GET":
      case "DELETE":
        return ofSession(request, response, caller);
      default:
        return refuse(response, 405, `send ${methods}`, { Allow: methods });
    }
  }

  function atStream(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    if (request.method !== "GET") return refuse(response, 405, "GET opens the stream", { Allow: "GET, OPTIONS" });
    if (hasTooManyStreams()) return refuseStream(response);
    if (!holdsStream(caller, response)) return;
    if (sse && !sse.open(response, caller, clientFor(request, caller)))
      refuse(response, 503, tooManySessions, { "Retry-After": 30 });
  }

  function hasTooManyStreams(): boolean {
    return streams.size >= maxStreams;
  }

  function refuseStream(response: ServerResponse): void {
    refuse(response, 503, "too many streams are open; try again later", { "Retry-After": 30 });
  }

  function atPost(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    if (request.method !== "POST") return refuse(response, 405, "POST your messages here", { Allow: "POST, OPTIONS" });
    readMessage(request, response, { caller }, (body) => {
      const session = sse ? sse.find(sessionIdIn(request.url ?? ""), caller) : undefined;
      if (session === undefined)
        return refuse(response, 404, "this session has ended or does not exist; open the stream again");
      if (session.full)
        return refuse(response, 503, "too many unread responses on your stream; read them first", { "Retry-After": 1 });
      session.post(body, response);
    });
  }

  function readMessage(
    request: IncomingMessage,
    response: ServerResponse,
    { caller, actionPath }: { readonly caller: Caller; readonly actionPath?: string },
    done: (body: unknown, accepts: Accepts) => void,
  ): void {
    const { headers } = request;
    if (!isJson(headers["content-type"])) return refuse(response, 415, "send Content-Type: application/json");
    if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity")
      return refuse(response, 415, "send the body without a Content-Encoding");
    const accepts = parseAccept(headers.accept);
    const isUnacceptable = !accepts.json && !accepts.events;
    const refuseAccept = () => refuse(response, 406, "accept application/json and text/event-stream");
    // A body that has been sent is read for its id.
    if (isUnacceptable && expectant.has(request)) return refuseAccept();
    readBody(request, (bytes) => {
      try {
        if (bytes === "busy")
          return refuse(response, 503, "too many request bodies are arriving; try again soon", { "Retry-After": 1 });
        if (bytes === "too-large") return refuseBody(request, response);
        const parsed = parseMessageBytes(bytes);
        if (!parsed.ok) return sendJson(response, 400, edge.error(null, parseError, parsed.message));
        if (actionPath === undefined && open.has(response)) open.set(response, edge.requestIdOf(parsed.body));
        // A late body must not open a session that nobody would end.
        if (state === "closed") return refuseLate(response);
        if (isUnacceptable) return refuseAccept();
        const refusal = authorize?.(caller, parsed.body, actionPath);
        if (refusal instanceof Promise)
          refusal
            .then((late) => (late ? refuseBy(late, response) : response.destroyed || done(parsed.body, accepts)))
            .catch((cause: unknown) => fail(response, cause));
        else if (refusal) refuseBy(refusal, response);
        else done(parsed.body, accepts);
      } catch (cause) {
        fail(response, cause);
      }
    });
    if (headers.expect !== undefined && expectant.delete(request) && !response.headersSent) {
      response.removeHeader("Connection");
      if (state !== "open") closeAfter(response);
      response.writeContinue();
    }
  }

  function refuseBody(request: IncomingMessage, response: ServerResponse): void {
    const wire = edge.error(null, invalidRequest, `a body may have ${maxBodyBytes} bytes at most`);
    response.writeHead(413, { "Content-Type": "application/json", ...unkept, ...thenClose });
    for (const piece of wire) response.write(piece);
    discard(request, maxBodyBytes, () => response.end());
  }

  function take(
    body: unknown,
    accepts: Accepts,
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
  ): void {
    const headers = headersOf(request);
    const client = clientFor(request, caller);
    switch (edge.classify(body, headers)) {
      case "modern":
        if (edge.isListen?.(body) && hasTooManyStreams()) return refuseStream(response);
        return exchange(edge, streams, underWay, { body, headers, accepts, caller, client }, response);
      case "opening":
        if (!sessions.open(body, { caller, client, holder: isOneCaller ? client : caller.id }, response, accepts))
          refuse(response, 503, tooManySessions, { "Retry-After": 30 });
        return;
      case "legacy": {
        const session = findSession(request, response, caller, headers.version);
        session?.post(body, response, accepts);
      }
    }
  }

  function ofSession(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    const { version } = headersOf(request);
    // A revision without sessions has neither method.
    if (version !== undefined && edge.classify({}, { version }) === "modern")
      return refuse(response, 405, "this revision has no sessions; POST your requests", { Allow: "POST, OPTIONS" });
    const session = findSession(request, response, caller, version);
    if (session === undefined) return;
    if (request.method === "DELETE") {
      session.end();
      return sendJson(response, 204);
    }
    if (!parseAccept(request.headers.accept).events) return refuse(response, 406, "accept text/event-stream");
    if (hasTooManyStreams()) return refuseStream(response);
    if (!holdsStream(caller, response)) return;
    session.listen(response, one(request.headers["last-event-id"]));
  }

  /** Sends an error if there is none. */
  function findSession(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    version: string | undefined,
  ): LegacySession | undefined {
    const id = one(request.headers["mcp-session-id"]);
    if (id === undefined) refuse(response, 400, "send the Mcp-Session-Id from the response to initialize");
    else if (version !== undefined && !edge.revisions.includes(version))
      refuse(response, 400, `revision ${quote(version)} is not supported; use one of ${edge.revisions.join(", ")}`);
    else {
      const session = sessions.find(id, caller);
      if (session) return session;
      refuse(response, 404, sessionEnded);
    }
    return undefined;
  }

  function fail(response: ServerResponse, cause: unknown): void {
    log?.("error", "a request over HTTP failed", { cause });
    if (response.headersSent) response.destroy();
    else refuse(response, 500, "internal error; see the server's log for details");
  }

  return {
    handle,
    handleExpectation(request, response) {
      expectant.add(request);
      // A refused client may or may not send its body, so the connection cannot be reused.
      response.setHeader("Connection", "close");
      handle(request, response);
    },
    get counts() {
      return { sessions: sessions.size + (sse ? sse.size : 0), streams: streams.size };
    },
    async close(graceMs = 5000) {
      const deadline = monotonicMs() + graceMs;
      async function until(isTrue: () => boolean): Promise<void> {
        while (!isTrue() && monotonicMs() < deadline) await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
      state = "finishing";
      for (const response of open.keys()) closeAfter(response);
      // Listens are not counted as running; their responses are streams, which end later.
      await until(() => underWay.count === 0 && open.size <= streams.size);
      const ending = edge.close().catch((cause: unknown) => log?.("error", "the protocol did not close", { cause }));
      await isDoneWithin(ending, Math.max(listenEndMs, deadline - monotonicMs()));
      state = "closed";
      sessions.close();
      if (sse) sse.close();
      streams.close();
      await until(() => open.size === 0);
    },
  };
}

function hasLongBody({ method, headers }: IncomingMessage): boolean {
  if (method !== "POST") return false;
  return headers["content-length"] === undefined || Number(headers["content-length"]) > shortBodyBytes;
}

function clientFor(request: IncomingMessage, caller: Caller): Client {
  const address = forwardedAddress(request);
  return address === undefined ? clientOf(request.socket) : proxiedClient(address, caller.id);
}

function headersOf({ headers }: IncomingMessage): HeaderLookup {
  return {
    version: one(headers["mcp-protocol-version"]),
    method: one(headers["mcp-method"]),
    name: one(headers["mcp-name"]),
    param: (name) => one(headers[`mcp-param-${name.toLowerCase()}`]),
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}

/** With two Host headers, a proxy may have checked the other one. https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

function sessionIdIn(url: string): string {
  return new URLSearchParams(url.slice(pathOf(url).length)).get("sessionId") ?? "";
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate");
}

function preflight(response: ServerResponse, isShared: boolean): void {
  sendJson(response, 204, undefined, { Allow: methods, ...(isShared && permissions) });
}

/** Nothing that a caller opened may outlive their admission. */
function endWith({ ended }: Caller, response: ServerResponse): void {
  if (!ended) return;
  const end = () => response.destroy();
  ended.addEventListener("abort", end, { once: true });
  response.once("close", () => ended.removeEventListener("abort", end));
}
