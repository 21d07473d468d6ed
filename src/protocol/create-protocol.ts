/** Combines revisions, resources, tools and prompts into the protocol that transports use. */
import { byteLength } from "../lib/byte-length.ts";
import { wait as waitFor } from "../lib/wait.ts";
import type { Call, Caller, Resources } from "../resources.ts";
import { answerTo, askFor, errorResponse, failure, observed, progressOf, type Responder } from "./respond.ts";
import { type CallerQuotas, withinQuotas } from "./caller-quotas.ts";
import type { ServerFeatures, ClientRequest, ServerInfo } from "./client-request.ts";
import type { Protocol, HeaderLookup, Peer, WireBytes } from "./protocol.ts";
import { claimsModern, openEnvelope, revisionIn, visitorIn } from "./envelope.ts";
import {
  codes,
  errorWire,
  isJsonObject,
  type JsonRpcMessage,
  notificationWire,
  parseMessage,
  requestIdOf,
} from "./message.ts";
import { type Prompt, type PromptSet, promptSetOf } from "./prompts.ts";
import type { Runtime } from "../source.ts";
import type { Revision } from "./revision.ts";
import { allRevisions, modernRevisions } from "./revisions/index.ts";
import { createSession } from "./session.ts";
import type { Tool, ToolSet } from "./tools.ts";
import { createWatchQuota, type WatchQuota } from "./watch-quota.ts";
import type { RequestObserver } from "./request-observer.ts";

export interface ProtocolOptions {
  readonly resources: Resources;
  readonly server: ServerInfo;
  /** Instructions for models; a function is called each time, if they may change or depend on the caller. */
  readonly instructions?: string | ((caller: Caller) => string);
  readonly tools?: readonly Tool[];
  /** Additional tools that may change, or depend on the caller. */
  readonly moreTools?: ToolSet;
  /** A set if they may change, or depend on the caller. */
  readonly prompts?: readonly Prompt[] | PromptSet;
  readonly watchQuota?: WatchQuota;
  /** What each caller may use. Default: no limits per caller. */
  readonly quotas?: CallerQuotas;
  /** Notified of clients, of what they read, and of how requests end. */
  readonly observer?: RequestObserver;
  /** Whether callers had to authenticate: then no response is public. */
  readonly isPrivate?: boolean;
  readonly log?: Runtime["log"];
  /** @internal Default: the system's timers. */
  readonly wait?: Runtime["wait"];
}

export function createProtocol(options: ProtocolOptions): Protocol {
  const {
    resources,
    server,
    instructions,
    tools = [],
    moreTools,
    prompts = [],
    watchQuota,
    quotas,
    observer,
  } = options;
  // Taken apart here: published types have no internal options.
  const { isPrivate = false, log = () => {}, wait = waitFor } = options;
  let closed = false;
  const closedTransports = new WeakSet<object>();
  const revisions = new Map(modernRevisions.map((each) => [each, isPrivate ? withoutSharing(each) : each]));
  const offer: ServerFeatures = {
    resources,
    server,
    instructions,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    moreTools,
    prompts: toShelf(prompts),
    revisions: allRevisions.map(({ date }) => date),
    watchQuota: watchQuota ?? createWatchQuota(),
    quotas,
    observer,
    wait,
    listens: new Map(),
    isClosing: (transport) => closed || (transport !== undefined && closedTransports.has(transport)),
  };
  /** With the transport of each. */
  const underWay = new Map<Promise<void>, object | undefined>();

  async function exchange(
    body: unknown,
    headers: HeaderLookup | undefined,
    peer: Peer,
    reply: Responder,
  ): Promise<void> {
    const message = parseMessage(body);
    if (message.kind === "wrong")
      return reply.end(errorResponse(message.id, codes.request, message.why, { status: 400 }));
    if (message.kind === "response")
      return reply.end(errorResponse(null, codes.request, "a client must not send responses", { status: 400 }));
    // Over HTTP a client sends no notifications: disconnecting cancels a request.
    if (message.kind === "notification") return reply.end();
    if (offer.isClosing(peer.transport))
      return reply.end(errorResponse(message.id, codes.internal, "the server is closing", { status: 503 }));
    await withinQuotas(quotas, peer.caller, message, reply, (charged) => handle(message, headers, peer, charged));
  }

  async function handle(
    { id, method, params }: Extract<JsonRpcMessage, { kind: "request" }>,
    headers: HeaderLookup | undefined,
    peer: Peer,
    reply: Responder,
  ): Promise<void> {
    let revision = modernRevisions[0]!;
    let ask, clientCapabilities, visitor;
    try {
      ({ revision, clientCapabilities } = openEnvelope(method, params, headers));
      revision = revisions.get(revision) ?? revision;
      visitor = observer && visitorIn(params, revision.date, peer.caller);
      ask = askFor(method, revision, offer);
    } catch (cause) {
      return reply.end(failure(id, cause, revision, params, log));
    }
    if (visitor) {
      if (method === "subscriptions/listen") observer?.came(visitor, peer.signal);
      else observer?.requested(visitor);
    }
    const say: ClientRequest["say"] = (name, about) => {
      if (!peer.signal.aborted) return reply.notify(notificationWire(name, about));
    };
    const progress = progressOf(params, revision, say);
    const { caller, client, transport } = peer;
    const call: Call = progress ? { caller, client, signal: peer.signal, progress } : peer;
    const isHeard = reply.takesNotice !== false;
    const question = {
      offer,
      revision,
      params,
      headers,
      call,
      say,
      isHeard,
      id,
      transport,
      clientCapabilities,
      visitor,
    };
    reply.end(await answerTo(ask, question, log));
  }

  function begin(body: unknown, headers: HeaderLookup | undefined, peer: Peer, reply: Responder): void {
    const done = exchange(body, headers, peer, reply).finally(() => underWay.delete(done));
    underWay.set(done, peer.transport);
  }

  return {
    revisions: offer.revisions,

    classify(body, { version }) {
      if (claimsModern(body, version)) return "modern";
      return isJsonObject(body) && body["method"] === "initialize" ? "opening" : "legacy";
    },

    isListen: (body) => isJsonObject(body) && body["method"] === "subscriptions/listen",

    exchange: (body, headers, peer, reply) =>
      observed(
        body,
        reply,
        observer,
        () => revisionIn(body),
        (responder) => begin(body, headers, peer, responder),
      ),

    session(peer, { modern, saved }) {
      // Other sessions of the same caller do not count here.
      const { caller, signal: until, client = {} } = peer;
      const askModern = modern
        ? (body: unknown, reply: Responder, signal: AbortSignal) =>
            begin(body, undefined, { caller, client, signal }, reply)
        : undefined;
      const own = {
        caller,
        client,
        signal: until,
        save: peer.save,
        forward: peer.forward,
        reread: peer.reread,
        send(wire: WireBytes) {
          quotas?.charge(caller, "bytes", byteLength(wire));
          return peer.send(wire);
        },
      };
      return createSession(offer, own, askModern, log, saved);
    },

    requestIdOf,
    error: errorWire,

    async close(transport) {
      if (transport === undefined) closed = true;
      else closedTransports.add(transport);
      const isMeant = (own: object | undefined) => transport === undefined || own === transport;
      for (const [listen, own] of offer.listens) if (isMeant(own)) void listen.return?.();
      await Promise.allSettled([...underWay].filter(([, own]) => isMeant(own)).map(([done]) => done));
    },
  };
}

/** The same revision with private responses only. */
function withoutSharing(revision: Revision): Revision {
  return {
    ...revision,
    seal: (result, freshness, server) => revision.seal(result, freshness && { ...freshness, scope: "private" }, server),
  };
}

function toShelf(prompts: readonly Prompt[] | PromptSet): PromptSet | undefined {
  if ("list" in prompts) return prompts;
  return prompts.length === 0 ? undefined : promptSetOf(prompts);
}
