/** A session of the older revisions: negotiated revision, running requests, subscriptions. */
import { quote, toResourceError } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import {
  answerTo,
  askFor,
  type EncodedResponse,
  errorResponse,
  failure,
  observed,
  progressOf,
  type Responder,
} from "./respond.ts";
import { withinQuotas } from "./caller-quotas.ts";
import { isOffered, type ServerFeatures, type ClientRequest } from "./client-request.ts";
import { capabilities, instructionsFor, wireServer } from "./discovery.ts";
import type { ProtocolSession, SavedSession, SessionChange, SessionPeer, WireBytes } from "./protocol.ts";
import { claimsModern, revisionIn } from "./envelope.ts";
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
import { promptsChanged, toolsChanged } from "./notices.ts";
import { type Notice, wireNotice } from "./shape.ts";
import { createSessionSubscriptions, type Subscriptions } from "./subscriptions.ts";
import { type ClientInfo, visitorFrom } from "./request-observer.ts";

/** Maximum number of messages in a batch. */
const maxBatch = 1000;

/** How many of them run concurrently, and the total size of responses before the rest is refused. */
const batchedAtOnce = 2;
const maxBatchBytes = 16 * 1024 * 1024;
const tooMuch = "the responses to this batch are too large together; send fewer requests at once";

/** Maximum number of running requests per session: over HTTP they continue when their senders disconnect. */
const maxUnderWay = 1000;

/** When to try `initialize` again, if the session could not be stored. */
const retryAfterMs = 1000;
const maxNameLength = 100;
/** Characters of the JSON that is stored. */
const maxCapabilities = 64 * 1024;

type Request = Extract<JsonRpcMessage, { kind: "request" }>;

/** Handles a modern request of this session; its id is registered here, so that it can be cancelled. */
type AskModern = (body: unknown, reply: Responder, signal: AbortSignal) => void;

export function createSession(
  offer: ServerFeatures,
  peer: SessionPeer & { readonly client: object },
  askModern: AskModern | undefined,
  log: Runtime["log"],
  saved?: SavedSession,
): ProtocolSession {
  const { caller, client } = peer;
  const underWay = new Map<Id, AbortController>();
  const subscriptions = createSessionSubscriptions(offer, { caller, client }, announce);
  const savedSubscriptions = peer.save ? createSavedSubscriptions(subscriptions, peer) : subscriptions;
  const requestSecret = saved?.requestSecret ?? crypto.randomUUID();
  const requests = createServerRequests(requestSecret);
  let revision: Revision | undefined;
  let clientCapabilities: RequestParams = {};
  let visitor: ClientInfo | undefined;
  let isFollowing = false;
  let closed = false;
  const known = saved && legacyRevisions.find(({ date }) => date === saved.revision);
  if (known) agree(known, saved.capabilities, saved.client);

  function announce(notice: Notice): void | Promise<void> {
    const { method, params } = wireNotice(notice);
    return peer.send(notificationWire(method, params));
  }

  function agree(agreed: Revision, capabilitiesOfClient: RequestParams, info: unknown): void {
    revision = agreed;
    clientCapabilities = capabilitiesOfClient;
    if (!offer.observer) return;
    visitor = visitorFrom(info, agreed.date, caller);
    offer.observer.came(visitor, peer.signal);
  }

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
    const agreed = legacyRevisions.find(({ date }) => date === wanted) ?? legacyRevisions[0];
    agree(agreed, isJsonObject(declared) ? declared : {}, member(params, "clientInfo"));
    const result = {
      protocolVersion: agreed.date,
      capabilities: capabilities(offer, agreed),
      serverInfo: wireServer(offer.server, agreed.has),
      ...instructionsFor(offer, caller),
    };
    const end = () => reply.end({ wire: resultWire(id, result) });
    if (!peer.save) return end();
    const session = savedFrom(agreed, requestSecret, clientCapabilities, member(params, "clientInfo"));
    peer.save({ kind: "opened", session }).then(end, (cause: unknown) => {
      revision = undefined;
      const { message } = toResourceError(cause);
      reply.end({ ...errorResponse(id, codes.internal, message, { status: 503 }), retryAfterMs });
    });
  }

  function follow(): boolean {
    if (!revision || isFollowing) return false;
    isFollowing = true;
    subscriptions.followList();
    if (isOffered(revision.asks.get("prompts/list"), offer)) subscriptions.followPrompts();
    if (isOffered(revision.asks.get("tools/list"), offer)) subscriptions.followTools();
    return true;
  }

  async function resume(uris: readonly string[], isMissed: boolean): Promise<void> {
    follow();
    const added = await savedSubscriptions.replaceAll(uris);
    if (closed) return;
    if (isMissed) {
      await announce({ kind: "list-changed" });
      if (isOffered(revision?.asks.get("prompts/list"), offer) && offer.prompts?.watch) await announce(promptsChanged);
      if (isOffered(revision?.asks.get("tools/list"), offer) && offer.moreTools?.watch) await announce(toolsChanged);
    }
    for (const uri of isMissed ? new Set(uris) : added) if (!closed) await announce({ kind: "updated", uri });
  }

  function notified(method: string, params: RequestParams | undefined): void {
    if (method === "notifications/initialized") follow();
    if (method === "notifications/cancelled") cancel(member(params, "requestId"));
  }

  function cancel(id: unknown): void {
    if (!isId(id)) return;
    underWay.get(id)?.abort();
    // The id of a cancelled request may be reused immediately, however long the work takes to stop.
    underWay.delete(id);
  }

  /** Whether a response or cancellation may be about a request of this session that is not here. */
  function isForAnother(message: Extract<JsonRpcMessage, { kind: "response" | "notification" }>): boolean {
    if (message.kind === "response") return !requests.isExpected(message) && requests.isIssued(message.id);
    if (message.method !== "notifications/cancelled") return false;
    const id = member(message.params, "requestId");
    return isId(id) && !underWay.has(id);
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
      subscriptions: savedSubscriptions,
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
    if (peer.forward && isForAnother(message)) peer.forward(forwardedBody(message));
    else handleForwardable(message);
    reply.end();
  }

  function handleForwardable(message: JsonRpcMessage): void {
    if (message.kind === "notification") notified(message.method, message.params);
    if (message.kind === "response") requests.receive(message);
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
      const revisionOf = () => (askModern && revisionIn(body)) ?? revision?.date;
      observed(body, received, offer.observer, revisionOf, (reply) => {
        if (closed) return reply.end();
        if (Array.isArray(body)) receiveBatch(body, reply);
        else receiveOne(body, reply);
      });
    },
    receiveForwarded(body) {
      if (!closed) handleForwardable(parseMessage(body));
    },
    follow,
    resume,
    close,
  };
}

type SubscriptionChange = Exclude<SessionChange, { readonly kind: "opened" }>;

/** Stores each change before it is acknowledged. After a failure, what is stored is read again: it counts. */
function createSavedSubscriptions(
  inner: Subscriptions,
  { save, reread }: Pick<SessionPeer, "save" | "reread">,
): Subscriptions {
  /** Changes that are being stored, the last of each resource: what other instances have stored lacks them. */
  const unsaved = new Map<string, SubscriptionChange>();

  /** Calls `failed` if the change was perhaps not stored. */
  async function store(next: SubscriptionChange, failed?: () => void): Promise<void> {
    try {
      await save?.(next);
    } catch (cause) {
      failed?.();
      forget(next);
      reread?.();
      throw cause;
    }
  }

  function forget(next: SubscriptionChange): void {
    if (unsaved.get(next.uri) === next) unsaved.delete(next.uri);
  }

  async function change(next: SubscriptionChange, apply: () => Promise<void>): Promise<void> {
    unsaved.set(next.uri, next);
    try {
      await apply();
    } finally {
      forget(next);
    }
  }

  return withMembers<Subscriptions>(inner, {
    subscribe(uri, signal) {
      const next = { kind: "subscribed", uri } as const;
      // An earlier request may have been acknowledged.
      const isFirst = !inner.has(uri);
      return change(next, async () => {
        await inner.subscribe(uri, signal);
        if (!signal.aborted) await store(next, () => isFirst && inner.unsubscribe(uri));
      });
    },
    unsubscribe(uri) {
      const next = { kind: "unsubscribed", uri } as const;
      return change(next, async () => {
        await inner.unsubscribe(uri);
        await store(next);
      });
    },
    replaceAll(uris) {
      const wanted = new Set(uris);
      for (const { kind, uri } of unsaved.values()) {
        if (kind === "subscribed") wanted.add(uri);
        else wanted.delete(uri);
      }
      return inner.replaceAll([...wanted]);
    },
  });
}

/** A response as it came, or what counts of a cancellation. */
function forwardedBody(message: Extract<JsonRpcMessage, { kind: "response" | "notification" }>): object {
  if (message.kind === "notification") {
    const requestId = member(message.params, "requestId");
    return { jsonrpc: "2.0", method: message.method, params: { requestId } };
  }
  const { kind: _kind, ...members } = message;
  return { jsonrpc: "2.0", ...members };
}

/** Names are cut: only people read them. */
function savedFrom({ date }: Revision, requestSecret: string, declared: RequestParams, info: unknown): SavedSession {
  const text = (name: string) => {
    const value = member(info, name);
    return typeof value === "string" ? { [name]: value.slice(0, maxNameLength) } : {};
  };
  return {
    revision: date,
    client: { ...text("name"), ...text("version") },
    // A client with very many capabilities is served without them, as if it had none.
    capabilities: JSON.stringify(declared).length <= maxCapabilities ? declared : {},
    subscriptions: [],
    requestSecret,
  };
}

function refuse(reply: Responder, id: Id | null, why: string, code: number = codes.request): void {
  reply.end(errorResponse(id, code, why, { status: 400 }));
}
