/** The three MCP entry points over HTTP: the endpoint of all revisions, and the stream and the post path of 2024-11-05. */
import { QuotaError, quote, toResourceError } from "../errors.ts";
import type { HeaderLookup, Protocol } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { type Accepts, parseAccept } from "./accepts.ts";
import { methods } from "./cors.ts";
import type { EventStreams } from "./event-stream.ts";
import type { HandlerOptions } from "./handler-options.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { InFlight } from "./in-flight.ts";
import { createLegacySessions, type LegacySession } from "./legacy-sessions.ts";
import { pathOf } from "./locate-path.ts";
import { sessionEnded } from "./post-reply.ts";
import { exchange } from "./modern-exchange.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import type { createMessageReader } from "./read-message.ts";
import type { Refusals } from "./refusals.ts";
import { sendJson } from "./send-json.ts";
import { createSse } from "./sse.ts";

/** Handles a request of an admitted caller. */
export type EntryPoint = (request: IncomingRequest, caller: Caller) => void;

interface EndpointParts {
  readonly streams: EventStreams;
  readonly underWay: InFlight;
  readonly refusals: Refusals;
  readonly readMessage: ReturnType<typeof createMessageReader>;
  /** Whether all callers that the handler identifies itself are the same. */
  readonly isOneCaller: boolean;
  /** The path to post to of 2024-11-05, or false. */
  readonly post: string | false;
  /** Identifies the handler for the protocol. */
  readonly transport: object;
}

export function createMcpEndpoints(
  protocol: Protocol,
  options: HandlerOptions,
  { streams, underWay, refusals, readMessage, isOneCaller, post, transport }: EndpointParts,
) {
  const { maxStreams = 18_000, quotas } = options;
  const { refuse, refuseQuota, refuseSession, refuseStream } = refusals;
  const sessions = createLegacySessions(protocol, streams, underWay, options);
  const sse = post === false ? undefined : createSse(protocol, streams, underWay, { ...options, post });

  function hasTooManyStreams(): boolean {
    return streams.size >= maxStreams;
  }

  /** A stream counts as a listen until it is closed. Sends an error if the caller may hold no more. */
  function holdsStream(caller: Caller, response: OutgoingResponse): boolean {
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

  function take(body: unknown, accepts: Accepts, request: IncomingRequest, caller: Caller): void {
    const { response } = request;
    const headers = headersOf(request);
    const client = request.clientFor(caller);
    switch (protocol.classify(body, headers)) {
      case "modern":
        if (protocol.isListen?.(body) && hasTooManyStreams()) return refuseStream(response);
        return exchange(protocol, streams, underWay, { body, headers, accepts, caller, client, transport }, response);
      case "opening":
        if (!sessions.open(body, openerOf(request, caller), response, accepts)) refuseSession(response);
        return;
      case "legacy":
        withSession(request, caller, headers.version, (session) => session.post(body, response, accepts));
    }
  }

  function openerOf(request: IncomingRequest, caller: Caller) {
    const client = request.clientFor(caller);
    return { caller, client, holder: isOneCaller && !hasOwnCaller(request) ? client : caller.id };
  }

  function ofSession(request: IncomingRequest, caller: Caller): void {
    const { response } = request;
    const { version } = headersOf(request);
    // A revision without sessions has neither method.
    if (version !== undefined && protocol.classify({}, { version }) === "modern")
      return refuse(response, 405, "this revision has no sessions; POST your requests", { Allow: "POST, OPTIONS" });
    if (request.method === "DELETE") return endSession(request, caller, version);
    withSession(request, caller, version, (session) => {
      if (!parseAccept(request.headers.accept).events) return refuse(response, 406, "accept text/event-stream");
      if (hasTooManyStreams()) return refuseStream(response);
      if (!holdsStream(caller, response)) return;
      session.listen(response, one(request.headers["last-event-id"]));
    });
  }

  function endSession(request: IncomingRequest, caller: Caller, version: string | undefined): void {
    const { response } = request;
    const id = sessionIdOf(request, version);
    if (id === undefined) return;
    const answer = (existed: boolean) => (existed ? sendJson(response, 204) : refuse(response, 404, sessionEnded));
    const ending = sessions.end(id, caller);
    if (!(ending instanceof Promise)) return answer(ending);
    ending.then(answer, (cause: unknown) => refuseUnknown(response, cause));
  }

  /** Sends an error if there is none, or the revision is not supported. */
  function sessionIdOf({ headers, response }: IncomingRequest, version: string | undefined): string | undefined {
    const id = one(headers["mcp-session-id"]);
    if (id === undefined) refuse(response, 400, "send the Mcp-Session-Id from the response to initialize");
    else if (version === undefined || protocol.revisions.includes(version)) return id;
    else
      refuse(response, 400, `revision ${quote(version)} is not supported; use one of ${protocol.revisions.join(", ")}`);
    return undefined;
  }

  /** Sends an error if there is none. */
  function withSession(
    request: IncomingRequest,
    caller: Caller,
    version: string | undefined,
    use: (session: LegacySession) => void,
  ): void {
    const { response } = request;
    const id = sessionIdOf(request, version);
    if (id === undefined) return;
    const useIf = (session: LegacySession | undefined) =>
      session ? use(session) : refuse(response, 404, sessionEnded);
    const found = sessions.find(id, openerOf(request, caller));
    if (!(found instanceof Promise)) return useIf(found);
    found.then(
      (session) => response.destroyed || caller.ended?.aborted || useIf(session),
      (cause: unknown) => refuseUnknown(response, cause),
    );
  }

  /** Whether the session exists is not known, so the client must not forget it. */
  function refuseUnknown(response: OutgoingResponse, cause: unknown): void {
    refuse(response, 503, toResourceError(cause).message, { "Retry-After": 1 });
  }

  return {
    atEndpoint(request: IncomingRequest, caller: Caller): void {
      switch (request.method) {
        case "POST":
          return readMessage(request, { caller }, (body, accepts) => take(body, accepts, request, caller));
        case "GET":
        case "DELETE":
          return ofSession(request, caller);
        default:
          return refuse(request.response, 405, `send ${methods}`, { Allow: methods });
      }
    },
    atStream(request: IncomingRequest, caller: Caller): void {
      const { response } = request;
      if (request.method !== "GET") return refuse(response, 405, "GET opens the stream", { Allow: "GET, OPTIONS" });
      if (hasTooManyStreams()) return refuseStream(response);
      if (!holdsStream(caller, response)) return;
      if (sse && !sse.open(response, caller, request.clientFor(caller), request.basePath)) refuseSession(response);
    },
    atPost(request: IncomingRequest, caller: Caller): void {
      const { response } = request;
      if (request.method !== "POST")
        return refuse(response, 405, "POST your messages here", { Allow: "POST, OPTIONS" });
      readMessage(request, { caller }, (body) => {
        const session = sse?.find(sessionIdIn(request.url), caller);
        if (session === undefined)
          return refuse(response, 404, "this session has ended or does not exist; open the stream again");
        if (session.full)
          return refuse(response, 503, "too many unread responses on your stream; read them first", {
            "Retry-After": 1,
          });
        session.post(body, response);
      });
    },
    get sessionCount(): number {
      return sessions.size + (sse?.size ?? 0);
    },
    /** Ends all sessions. */
    close(): void {
      sessions.close();
      sse?.close();
    },
  };
}

/** Whether the app, and not the handler, says who calls. */
export function hasOwnCaller({ context }: IncomingRequest): boolean {
  return context !== undefined && "caller" in context;
}

function headersOf({ headers }: IncomingRequest): HeaderLookup {
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

function sessionIdIn(url: string): string {
  return new URLSearchParams(url.slice(pathOf(url).length)).get("sessionId") ?? "";
}
