/** MCP over HTTP for `node:http` and frameworks on it: connections, pipelining and "100 Continue". */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { createBodyReader } from "./body.ts";
import type { ForwardedReader } from "./forwarded.ts";
import { defaultBodyLimits, defaultEndpoint, type HandlerOptions } from "./handler-options.ts";
import { createHttpCore, type GateDecision } from "./http-core.ts";
import type { RequestContext } from "./incoming-request.ts";
import { createPathLocator } from "./locate-path.ts";
import { NodeRequest } from "./node-request.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { thenClose } from "./refusals.ts";
import type { ServedApp } from "./served-app.ts";
import { isEarly, sendInOrder } from "./send-in-order.ts";

export type { GateDecision } from "./http-core.ts";
export type { GateRefusal } from "./handler-options.ts";

export type RequestGate = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => GateDecision | Promise<GateDecision>;

/** Answers any request for a document that everyone may read. */
export type PublicDocument = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers a health check. `isGuarded` says whether its Host and Origin are allowed; the gate has not been consulted. */
export type HealthCheck = (request: IncomingMessage, response: ServerResponse, isGuarded: boolean) => void;

export interface NodeHandlerOptions extends HandlerOptions {
  /** Checks every request on every path, after Host and Origin. Not consulted if the app passes the caller. */
  readonly gate?: RequestGate;
  /** Returns the document at a path that everyone may read, from pages of any origin. The host is checked; the gate is not consulted. */
  readonly publicDocument?: (path: string) => PublicDocument | undefined;
  /** @internal Returns the health check at a path. It is answered whatever the Host, which balancers cannot always choose. */
  readonly healthCheck?: (path: string) => HealthCheck | undefined;
  /** Identifies the caller. Undefined gives a 401. Default: everyone is the same caller. Not consulted if the app passes the caller. */
  readonly identify?: (request: IncomingMessage) => Caller | undefined | Promise<Caller | undefined>;
  /** What proxies say about clients. Default: nothing that they say counts. */
  readonly forwarded?: ForwardedReader;
  /** Whether a path is that of a page without data, which links from other sites may open. */
  readonly isPage?: (path: string) => boolean;
  /** Whether nothing else uses the requests: then their data is released as soon as a stream opens. Default: false. */
  readonly ownsRequests?: boolean;
  /** Whether closing the handler closes the protocol, and with it what others serve of it. Default: false. */
  readonly ownsProtocol?: boolean;
  /** Handles other paths, after the same checks. Returns false for an unknown path. */
  readonly elsewhere?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
}

/** Continues with the app's next handler. */
export type NextHandler = (cause?: unknown) => void;

export interface HandleContext extends RequestContext {
  /** Called, before any check, for a path that is not the handler's. Without it, such a request gets 404. */
  readonly next?: NextHandler;
}

export interface NodeHandler {
  /**
   * Handles any request of a `node:http` server, also below a mount path and after a body parser. A context that is a function is
   * `next`, so that this is a middleware of Express and Connect. Never throws, and never passes an error to `next`.
   */
  handle(request: IncomingMessage, response: ServerResponse, context?: HandleContext | NextHandler): void;
  /** For `checkContinue`: sends "100 Continue" only if the body is wanted. Never throws. */
  handleExpectation(request: IncomingMessage, response: ServerResponse): void;
  /** Open sessions and streams. */
  readonly counts: { readonly sessions: number; readonly streams: number };
  /** Serves on, with `Connection: close`, so that clients and proxies open other connections, and perhaps to other instances. */
  drain(): void;
  /**
   * Responds to received requests within the grace period, with `Connection: close`. Then ends every listen with its result, and all
   * sessions and streams. Later requests get 503.
   */
  close(graceMs?: number): Promise<void>;
}

const nothingRaw: string[] = [];
const nothing: IncomingHttpHeaders = {};

export function createNodeHandler(app: ServedApp | Protocol, options: NodeHandlerOptions = {}): NodeHandler {
  const {
    endpoint = defaultEndpoint,
    identify,
    gate,
    publicDocument,
    healthCheck,
    forwarded,
    isPage,
    elsewhere,
    ownsRequests,
    ownsProtocol,
  } = options;
  const { maxBodyBytes = defaultBodyLimits.maxBytes, maxArrivingBytes = defaultBodyLimits.maxTotalBytes } = options;
  const locate = createPathLocator({ ...options, endpoint });
  const expectant = new WeakSet<IncomingMessage>();
  const shared = {
    maxBodyBytes,
    readBody: createBodyReader({ maxBytes: maxBodyBytes, maxTotalBytes: maxArrivingBytes }),
    expectant,
    wanted(response: ServerResponse) {
      response.removeHeader("Connection");
      if (core.state !== "open") closeAfter(response);
    },
  };
  const core = createHttpCore<NodeRequest>(
    app,
    { ...options, isOneCaller: options.isOneCaller ?? identify === undefined },
    {
      identify: identify && (({ message }) => identify(message)),
      gate: gate && (({ message, response, path }) => gate(message, response, path)),
      document: publicDocument && documentFor(publicDocument),
      healthCheck: healthCheck && healthCheckFor(healthCheck),
      isPage,
      elsewhere: elsewhere && (({ message, response, path }) => elsewhere(message, response, path)),
      ...(ownsRequests && { release: letGo }),
      // An app that embeds the handler has ids of its own.
      hasRequestIds: ownsRequests,
      ownsProtocol,
    },
  );

  function handle(message: IncomingMessage, response: ServerResponse, given?: HandleContext | NextHandler): void {
    // Another handler has responded, or the client left during a check of the app.
    if (response.headersSent || response.destroyed) return;
    const context = typeof given === "function" ? undefined : given;
    const next = typeof given === "function" ? given : given?.next;
    const located = locate(message.url ?? "/", (message as { originalUrl?: string }).originalUrl);
    const request = new NodeRequest(shared, message, response, located, context);
    if (next && !(located.isBelowBase && core.claims(request))) return next();
    // No response is possible on this connection; its bytes are read, because unread ones would reset it.
    if (message.socket.writableEnded || (core.state !== "open" && !staysOpenFor(message))) return void message.resume();
    core.track(response);
    if (!isEarly(response)) return begin(request);
    sendInOrder(message, response, () => begin(request));
  }

  function begin(request: NodeRequest): void {
    const { message, response } = request;
    try {
      if (core.state !== "open") closeAfter(response);
      if (namesTwoHosts(message.rawHeaders)) return core.refuse(response, 400, "send one Host header", thenClose);
      forwarded?.note(message);
    } catch (cause) {
      return core.fail(response, cause);
    }
    core.serve(request);
  }

  /** This handler opens no others. */
  function openResponses(): Iterable<ServerResponse> {
    return core.open.keys() as Iterable<OutgoingResponse & ServerResponse>;
  }

  /** While closing, the last response of a connection closes it, so that its client connects elsewhere. */
  function closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    for (const other of openResponses()) if (other !== response && other.req.socket === response.req.socket) return;
    response.setHeader("Connection", "close");
  }

  /** Whether earlier responses leave the connection of this request open; those that have not begun will do so. */
  function staysOpenFor({ socket }: IncomingMessage): boolean {
    for (const earlier of openResponses()) {
      if (earlier.req.socket !== socket || earlier.getHeader("Connection") === undefined) continue;
      if (earlier.headersSent || expectant.has(earlier.req)) return false;
      earlier.removeHeader("Connection");
    }
    return true;
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
      return core.counts;
    },
    drain() {
      core.drain();
      for (const response of openResponses()) closeAfter(response);
    },
    async close(graceMs) {
      for (const response of openResponses()) closeAfter(response);
      await core.close(graceMs);
    },
  };
}

function documentFor(find: NonNullable<NodeHandlerOptions["publicDocument"]>) {
  return ({ message, response, path }: NodeRequest): (() => void) | undefined => {
    const document = find(path);
    return document && (() => document(message, response));
  };
}

function healthCheckFor(find: NonNullable<NodeHandlerOptions["healthCheck"]>) {
  return ({ message, response, path }: NodeRequest): ((isGuarded: boolean) => void) | undefined => {
    const check = find(path);
    return check && ((isGuarded) => check(message, response, isGuarded));
  };
}

/** Releases the request's data, because it lives as long as its response. */
function letGo(response: OutgoingResponse): void {
  const { req: request } = response as OutgoingResponse & ServerResponse;
  request.removeAllListeners();
  request.rawHeaders = nothingRaw;
  request.headers = nothing;
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
