/** A session of the older revisions: negotiated revision, running requests, subscriptions. */
import { quote } from "../errors.ts";
import {
  answerTo,
  askFor,
  type EncodedResponse,
  errorResponse,
  failure,
  progressOf,
  type Responder,
  toResponder,
} from "./respond.ts";
import { withinQuotas } from "./caller-quotas.ts";
import { isOffered, type ServerFeatures, type ClientRequest } from "./client-request.ts";
import { capabilities, instructionsFor, wireServer } from "./discovery.ts";
import type { ProtocolSession, SessionPeer, WireBytes } from "./protocol.ts";
import { claimsModern } from "./envelope.ts";
import {
  codes,
  type Id,
  isId,
  isJsonObject,
  member,
  type JsonRpcMessage,
  notificationWire,
  type RequestParams,
  parseMessage,
  resultWire,
} from "./message.ts";
import type { Runtime } from "../source.ts";
import type { Revision } from "./revision.ts";
import { createServerRequests } from "./server-requests.ts";
import { legacyRevisions } from "./revisions/index.ts";
import { wireNotice } from "./shape.ts";
import { createSessionSubscriptions } from "./subscriptions.ts";
import { type ClientInfo, visitorFrom } from "./request-observer.ts";

/** Maximum number of messages in a batch. */
const maxBatch = 1000;

/** How many of them run concurrently, and the total size of responses before the rest is refused. */
const batchedAtOnce = 2;
const maxBatchBytes = 16 * 1024 * 1024;
const tooMuch = "the responses to this batch are too large together; send fewer requests at once";

/** Maximum number of running requests per session: over HTTP they continue when their senders disconnect. */
const maxUnderWay = 1000;

type Request = Extract<JsonRpcMessage, { kind: "request" }>;

/** Handles a modern request of this session; its id is registered here, so that it can be cancelled. */
type AskModern = (body: unknown, reply: Responder, signal: AbortSignal) => void;

export function createSession(
  offer: ServerFeatures,
  peer: SessionPeer & { readonly client: object },
  askModern: AskModern | undefined,
  log: Runtime["log"],
): ProtocolSession {
  const { caller, client } = peer;
  const underWay = new Map<Id, AbortController>();
  const subscriptions = createSessionSubscriptions(offer, { caller, client }, (notice) => {
    const { method, params } = wireNotice(notice);
    return peer.send(notificationWire(method, params));
  });
  const requests = createServerRequests();
  let revision: Revision | undefined;
  let clientCapabilities: RequestParams = {};
  let visitor: ClientInfo | undefined;
  let closed = false;

  function close(): void {
    if (closed) return;
    closed = true;
    subscriptions.close();
    for (const controller of underWay.values()) controller.abort();
    underWay.clear();
    peer.signal.removeEventListener("abort", close);
  }
  peer.signal.addEventListener("abort", close, { once: true });

  /** The id becomes free when the response has been sent. */
  function begin(id: Id, reply: Responder): { signal: AbortSignal; reply: Responder } | undefined {
    if (underWay.has(id)) {
      refuse(reply, id, "a request with this id is already running");
      return undefined;
    }
    if (underWay.size >= maxUnderWay) {
      refuse(reply, id, `at most ${maxUnderWay} requests may run at the same time`, codes.internal);
      return undefined;
    }
    const controller = new AbortController();
    underWay.set(id, controller);
    return {
      signal: controller.signal,
      reply: {
        takesNotice: reply.takesNotice,
        lost: reply.lost,
        // In a batch, others may still run when this one has its response.
        notify: (wire) => (underWay.get(id) === controller ? reply.notify(wire) : undefined),
        end(response) {
          if (underWay.get(id) === controller) underWay.delete(id);
          reply.end(response);
        },
      },
    };
  }

  function initialize({ id, params }: Request, reply: Responder): void {
    if (revision) return refuse(reply, id, "this session is already initialized");
    const wanted = member(params, "protocolVersion");
    if (typeof wanted !== "string")
      return refuse(reply, id, '"protocolVersion" is missing or not a string', codes.params);
    const declared = member(params, "capabilities");
    revision = legacyRevisions.find(({ date }) => date === wanted) ?? legacyRevisions[0];
    clientCapabilities = isJsonObject(declared) ? declared : {};
    if (offer.observer) {
      visitor = visitorFrom(member(params, "clientInfo"), revision.date, caller);
      offer.observer.came(visitor, peer.signal);
    }
    const result = {
      protocolVersion: revision.date,
      capabilities: capabilities(offer, revision),
      serverInfo: wireServer(offer.server, revision.has),
      ...instructionsFor(offer, caller),
    };
    reply.end({ wire: resultWire(id, result) });
  }

  function notified(method: string, params: RequestParams | undefined): void {
    if (method === "notifications/initialized" && revision) {
      subscriptions.followList();
      if (isOffered(revision.asks.get("prompts/list"), offer)) subscriptions.followPrompts();
      if (isOffered(revision.asks.get("tools/list"), offer)) subscriptions.followTools();
    }
    if (method === "notifications/cancelled") {
      const id = member(params, "requestId");
      if (!isId(id)) return;
      underWay.get(id)?.abort();
      // The id of a cancelled request may be reused immediately, however long the work takes to stop.
      underWay.delete(id);
    }
  }

  function request(message: Request, reply: Responder): void {
    const { id, method, params } = message;
    if (method === "initialize") return initialize(message, reply);
    const agreed = revision;
    if (!agreed) {
      if (method === "ping") return reply.end({ wire: resultWire(id, {}) });
      return refuse(reply, id, `${quote(method)} came before "initialize"`);
    }
    const begun = begin(id, reply);
    if (!begun) return;
    if (visitor) offer.observer?.requested(visitor);
    // In a session, errors have the status 200 too.
    const end = (response?: EncodedResponse) => begun.reply.end(response && { ...response, status: 200 });
    let ask;
    try {
      ask = askFor(method, agreed, offer);
    } catch (cause) {
      return end(failure(id, cause, agreed, params, log));
    }
    const { signal } = begun;
    const say: ClientRequest["say"] = (name, about) => {
      if (!signal.aborted) return begun.reply.notify(notificationWire(name, about));
    };
    const progress = progressOf(params, agreed, say);
    const call = progress ? { caller, client, signal, progress } : { caller, client, signal };
    const isHeard = begun.reply.takesNotice !== false;
    const question: ClientRequest = {
      offer,
      revision: agreed,
      params,
      call,
      say,
      isHeard,
      id,
      clientCapabilities,
      visitor,
      subscriptions,
      ...(isHeard && { askClient: (asked) => requests.send(asked, begun) }),
    };
    void answerTo(ask, question, log).then(end);
  }

  function receiveOne(body: unknown, reply: Responder): void {
    const message = parseMessage(body);
    if (askModern && message.kind === "request" && claimsModern(body, undefined)) {
      const begun = begin(message.id, reply);
      if (begun) askModern(body, begun.reply, begun.signal);
      return;
    }
    receiveLegacy(message, reply);
  }

  function receiveLegacy(message: JsonRpcMessage, reply: Responder): void {
    if (message.kind === "wrong") return refuse(reply, message.id, message.why);
    if (message.kind === "request")
      return withinQuotas(
        offer.quotas,
        caller,
        message,
        reply,
        (charged) => request(message, charged),
        // Some clients of the older revisions wait for ever for the response to a request that was refused with another status.
        revision && 200,
      );
    if (message.kind === "notification") notified(message.method, message.params);
    if (message.kind === "response") requests.receive(message);
    reply.end();
  }

  function receiveBatch(batch: readonly unknown[], reply: Responder): void {
    if (!revision?.batches) return refuse(reply, null, "batches are supported only in revision 2025-03-26");
    if (batch.length === 0) return refuse(reply, null, "a batch must not be empty");
    if (batch.length > maxBatch) return refuse(reply, null, `a batch may contain at most ${maxBatch} messages`);
    const answers: WireBytes[] = [];
    const ids = new Set<Id>();
    let bytes = 0;
    let next = 0;
    let left = batch.length;

    /**
     * Runs a few at a time, so that a small body cannot produce many large responses in memory. Modern requests are excluded: modern
     * revisions have no batches, and a listen would delay all other responses.
     */
    function goOn(): void {
      // Two slots may have become free with one message left.
      if (next === batch.length) return;
      if (closed) {
        left -= batch.length - next;
        next = batch.length;
        if (left === 0) reply.end();
        return;
      }
      const body = batch[next];
      next += 1;
      const message = parseMessage(body);
      const id = message.kind === "request" || message.kind === "wrong" ? message.id : null;
      if (id === null) return receiveLegacy(message, part);
      if (ids.has(id)) return refuse(part, id, "another request of this batch has the same id");
      ids.add(id);
      if (bytes > maxBatchBytes) return part.end(errorResponse(id, codes.internal, tooMuch));
      receiveLegacy(message, part);
    }
    const part: Responder = {
      takesNotice: reply.takesNotice,
      lost: reply.lost,
      notify: (wire) => reply.notify(wire),
      end(response) {
        if (response) {
          answers.push(response.wire);
          for (const piece of response.wire) bytes += piece.length;
        }
        left -= 1;
        // Not recursive, or a long batch of short responses would overflow the stack.
        if (next < batch.length) return void setImmediate(goOn);
        if (left > 0) return;
        if (answers.length === 0) return reply.end();
        reply.end({ wire: answers.flatMap((answer, index) => [index ? "," : "[", ...answer]).concat("]") });
      },
    };
    for (let begun = Math.min(batch.length, batchedAtOnce); begun > 0; begun--) goOn();
  }

  return {
    get revision() {
      return revision?.date;
    },
    get subscriptions() {
      return subscriptions.size;
    },
    receive(body, received) {
      const reply = toResponder(body, received, offer.observer);
      if (closed) return reply.end();
      if (Array.isArray(body)) receiveBatch(body, reply);
      else receiveOne(body, reply);
    },
    close,
  };
}

function refuse(reply: Responder, id: Id | null, why: string, code: number = codes.request): void {
  reply.end(errorResponse(id, code, why, { status: 400 }));
}
