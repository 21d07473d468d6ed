/** MCP over HTTP, both eras on one endpoint: who may ask, what was asked, and where the answer goes. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { quote } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Protocol, HeaderLookup } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { isJson, parseAccept } from "./accepts.ts";
import type { Accepts } from "./accepts.ts";
import type { ActionEndpoint } from "./action-endpoint.ts";
import { sendJson, unkept } from "./send-json.ts";
import { createBodyReader, discard } from "./body.ts";
import { clientOf } from "./clients.ts";
import type { EventStreamOptions } from "./event-stream.ts";
import { createEventStreams } from "./event-stream.ts";
import { createGuard } from "./guard.ts";
import type { LegacySession, LegacySessionOptions } from "./legacy-sessions.ts";
import { createLegacySessions, sessionEnded } from "./legacy-sessions.ts";
import { exchange } from "./modern-exchange.ts";
import { parseMessageBytes } from "./parse-message.ts";
import { createSse } from "./sse.ts";
import { sendInOrder, isEarly } from "./send-in-order.ts";
import { atMost, createInFlight } from "./in-flight.ts";

/** "answered" where it has given the answer itself. */
export type RequestGate = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => "welcome" | "refused" | "answered";

export interface HttpOptions extends EventStreamOptions, LegacySessionOptions {
  /** Where both eras are served. */
  readonly endpoint?: string;
  /** Where 2024-11-05 is served: a stream, and beside it a place to post to. False serves neither. */
  readonly sse?: { readonly stream: string; readonly post: string } | false;
  /** Judges every request, whatever its path, once its Host and Origin are right. */
  readonly gate?: RequestGate;
  /** Who asks. Undefined is answered with 401. Everyone is the same caller unless said. */
  readonly identify?: (request: IncomingMessage) => Caller | undefined | Promise<Caller | undefined>;
  /** Whether `identify` gives everyone the same caller: then connections, not callers, share what there is. True without it. */
  readonly isOneCaller?: boolean;
  /** The `WWW-Authenticate` of a 401. */
  readonly challenge?: string;
  /** Names this server goes by beside localhost, with or without a port. "*" allows any. */
  readonly allowedHosts?: readonly string[];
  /** Origins beside those of this machine whose pages may ask. */
  readonly allowedOrigins?: readonly string[];
  /** Of one posted body. */
  readonly maxBodyBytes?: number;
  /** Of all bodies that are still arriving, together. */
  readonly maxArrivingBytes?: number;
  readonly maxUrlLength?: number;
  /** Of streams that are held open: a listen, a session's own, or one of 2024-11-05. */
  readonly maxStreams?: number;
  /** Path of a page without data of its own, which people may follow links to from other sites. */
  readonly page?: string;
  /** Takes JSON that callers post to other paths. */
  readonly posts?: ActionEndpoint;
  /** Answers other paths, behind the same guards. False if it does not know the path either. */
  readonly elsewhere?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
  readonly log?: Runtime["log"];
}

export interface Http {
  /** Takes any request of a `node:http` server. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** For `checkContinue`: whoever asks before sending a body is told to go on only when it is wanted. Never throws. */
  handleExpectation(request: IncomingMessage, response: ServerResponse): void;
  /** Sessions and streams that are open. */
  readonly counts: { readonly sessions: number; readonly streams: number };
  /**
   * Answers what has been received, for at most so long, and says on each answer that its connection closes. Then ends every
   * listen with its result, and sessions and streams. Later requests are answered with 503.
   */
  close(graceMs?: number): Promise<void>;
}

const invalidRequest = -32600;
const parseError = -32700;
const internalError = -32603;

const tooManySessions = "too many sessions are open; try again later";
const anonymous: Caller = { id: "anonymous" };
/** For listens to be given their results when the grace period is over. */
const listenEndMs = 250;
/** Between two looks whether everything has been answered, while closing. */
const lookMs = 10;
const thenClose = { Connection: "close" };
const methods = "GET, POST, DELETE, OPTIONS";
const corsHeaders =
  "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

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
    gate,
    page,
    posts,
    elsewhere,
    log,
  } = options;

  const guard = createGuard({ hosts: allowedHosts, origins: allowedOrigins });
  const bodies = createBodyReader({ maxBytes: maxBodyBytes, maxTotalBytes: maxArrivingBytes });
  const streams = createEventStreams(options);
  const underWay = createInFlight();
  const sessions = createLegacySessions(edge, streams, underWay, options);
  const sse = ssePaths && createSse(edge, streams, underWay, { ...options, post: ssePaths.post });
  /** Those who wait for a word before they send their bodies. */
  const expectant = new WeakSet<IncomingMessage>();
  /** Until their last byte has left, streams included. */
  const open = new Set<ServerResponse>();
  let state: "open" | "finishing" | "closed" = "open";

  function refuse(response: ServerResponse, status: number, message: string, headers?: OutgoingHttpHeaders): void {
    const code = status >= 500 ? internalError : invalidRequest;
    sendJson(response, status, edge.error(null, code, message), headers);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // Nothing can be answered on this connection any more; its bytes are read all the same, as unread ones would reset it.
    if (request.socket.writableEnded || (state !== "open" && !staysOpenFor(request))) return void request.resume();
    open.add(response);
    response.on("close", forget);
    if (!isEarly(response)) return guarded(request, response);
    sendInOrder(request, response, () => guarded(request, response));
  }

  function forget(this: ServerResponse): void {
    open.delete(this);
  }

  /** While closing, the last answer of a connection says so: its client then asks elsewhere. */
  function closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    for (const other of open) if (other !== response && other.req.socket === response.req.socket) return;
    response.setHeader("Connection", "close");
  }

  /** Whether earlier answers on the connection of this request leave it open; those that have not begun do from now on. */
  function staysOpenFor({ socket }: IncomingMessage): boolean {
    for (const earlier of open) {
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
      const refusal = guard.refusal(headers, path === page && method === "GET");
      if (refusal !== undefined) return refuse(response, 403, refusal);
      if (origin !== undefined) allowOrigin(response, origin);
      if (url.length > maxUrlLength) return refuse(response, 414, `a URL may have ${maxUrlLength} characters at most`);
      if (method === "OPTIONS") return preflight(response);
      const judged = gate?.(request, response, path);
      if (judged === "refused") return refuseStranger(response);
      if (judged !== "answered") route(path, request, response);
    } catch (cause) {
      fail(response, cause);
    }
  }

  function route(path: string, request: IncomingMessage, response: ServerResponse): void {
    if (path === endpoint) return admit(request, response, atEndpoint);
    if (sse && ssePaths) {
      if (path === ssePaths.stream) return admit(request, response, atStream);
      if (path === ssePaths.post) return admit(request, response, atPost);
    }
    if (elsewhere) {
      // They may say otherwise, and cannot forget it.
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
      readMessage(request, response, (body) => {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        underWay.begin();
        takePost(path, body, { caller, client: clientOf(request.socket), signal: gone.signal })
          .then((said) => {
            if (said) sendJson(response, said.status, [said.text], said.headers);
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
    entryPoint(request, response, caller);
  }

  function refuseStranger(response: ServerResponse): void {
    refuse(response, 401, "say who you are: send an Authorization header", { "WWW-Authenticate": challenge });
  }

  function refuseLate(response: ServerResponse): void {
    refuse(response, 503, "this server is shutting down; ask again soon", { ...thenClose, "Retry-After": 5 });
  }

  function atEndpoint(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
    switch (request.method) {
      case "POST":
        return readMessage(request, response, (body, accepts) => take(body, accepts, request, response, caller));
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
    if (sse && !sse.open(response, caller, clientOf(request.socket)))
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
    readMessage(request, response, (body) => {
      const session = sse ? sse.find(sessionIdIn(request.url ?? ""), caller) : undefined;
      if (session === undefined)
        return refuse(response, 404, "this session has ended, or never was; open the stream again");
      if (session.full)
        return refuse(response, 503, "too many answers wait on your stream; read them first", { "Retry-After": 1 });
      session.post(body, response);
    });
  }

  function readMessage(
    request: IncomingMessage,
    response: ServerResponse,
    done: (body: unknown, accepts: Accepts) => void,
  ): void {
    const { headers } = request;
    if (!isJson(headers["content-type"])) return refuse(response, 415, "send Content-Type: application/json");
    if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity")
      return refuse(response, 415, "send the body without a Content-Encoding");
    const accepts = parseAccept(headers.accept);
    if (!accepts.json && !accepts.events) return refuse(response, 406, "accept application/json and text/event-stream");
    bodies.read(request, (bytes) => {
      try {
        if (bytes === "busy")
          return refuse(response, 503, "too much is arriving at once; ask again soon", { "Retry-After": 1 });
        if (bytes === "too-large") return refuseBody(request, response);
        // What began to arrive before must not open a session that no one would end.
        if (state === "closed") return refuseLate(response);
        const parsed = parseMessageBytes(bytes);
        if (parsed.ok) done(parsed.body, accepts);
        else sendJson(response, 400, edge.error(null, parseError, parsed.message));
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
    const client = clientOf(request.socket);
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
    // A revision without sessions knows neither method, whatever else was sent along.
    if (version !== undefined && edge.classify({}, { version }) === "modern")
      return refuse(response, 405, "this revision has no sessions; POST your questions", { Allow: "POST, OPTIONS" });
    const session = findSession(request, response, caller, version);
    if (session === undefined) return;
    if (request.method === "DELETE") {
      session.end();
      return sendJson(response, 204);
    }
    if (!parseAccept(request.headers.accept).events) return refuse(response, 406, "accept text/event-stream");
    if (hasTooManyStreams()) return refuseStream(response);
    session.listen(response, one(request.headers["last-event-id"]));
  }

  /** Refuses if there is none. */
  function findSession(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    version: string | undefined,
  ): LegacySession | undefined {
    const id = one(request.headers["mcp-session-id"]);
    if (id === undefined) refuse(response, 400, "send the Mcp-Session-Id that initialize was answered with");
    else if (version !== undefined && !edge.revisions.includes(version))
      refuse(response, 400, `no revision ${quote(version)} is served; send one of ${edge.revisions.join(", ")}`);
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
    else refuse(response, 500, "something went wrong here; the log has the details");
  }

  return {
    handle,
    handleExpectation(request, response) {
      expectant.add(request);
      // Who is refused may send its body or leave it: what follows could be either.
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
      for (const response of open) closeAfter(response);
      // A listen is not under way, and its response is one of the streams: those are ended afterwards.
      await until(() => underWay.count === 0 && open.size <= streams.size);
      const ending = edge.close().catch((cause: unknown) => log?.("error", "the edge did not close", { cause }));
      await atMost(Math.max(listenEndMs, deadline - monotonicMs()), ending);
      state = "closed";
      sessions.close();
      if (sse) sse.close();
      streams.close();
      await until(() => open.size === 0);
    },
  };
}

function headersOf({ headers }: IncomingMessage): HeaderLookup {
  return {
    version: one(headers["mcp-protocol-version"]),
    method: one(headers["mcp-method"]),
    name: one(headers["mcp-name"]),
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === "object" ? header[0] : header;
}

/** Of two names, a server in front of this one may have judged the other. https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
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
  response.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
  response.setHeader("Vary", "Origin");
}

function preflight(response: ServerResponse): void {
  sendJson(response, 204, undefined, {
    Allow: methods,
    "Access-Control-Allow-Methods": methods,
    "Access-Control-Allow-Headers": corsHeaders,
    "Access-Control-Max-Age": 7200,
  });
}
