/** HTTP sessions of the older revisions: ownership, limits and expiry. */
import type { OutgoingHttpHeaders } from "node:http";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Protocol, Reply, WireBytes } from "../protocol/protocol.ts";
import { type Caller, callerKey } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { retryAfter, sendJson } from "./send-json.ts";
import { createBytePool } from "./byte-pool.ts";
import { type Client, createShares } from "./clients.ts";
import type { EventLogLimits } from "./event-log.ts";
import type { EventStreams } from "./event-stream.ts";
import type { AnswerStream, SessionStreams } from "./session-streams.ts";
import { createSessionStreams } from "./session-streams.ts";
import type { InFlight } from "./in-flight.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

export interface LegacySession {
  /** Handles a posted message. If the sender disconnects, the work continues and its events can be replayed. */
  post(body: unknown, response: OutgoingResponse, accepts: Accepts): void;
  /** A GET: see `SessionStreams.listen`. */
  listen(response: OutgoingResponse, lastEventId?: string): void;
  end(): void;
}

/** The client that opens a session. */
interface Opener {
  readonly caller: Caller;
  readonly client: Client;
  /** Owner for the limits: the caller's id, or the connection if all callers are one. */
  readonly holder: Client | string;
}

export interface LegacySessionOptions {
  /**
   * When full, an unused session is evicted: one without any request since `initialize`, else the longest idle one of the newcomer,
   * or of the holder with the most sessions and more than a tenth of all. A session with a stream, a running request or a
   * subscription is in use.
   */
  readonly maxSessions?: number;
  /** After this time a session without any request may be evicted by anyone. */
  readonly unusedSessionMs?: number;
  /** A session without an open stream or running request ends after this time. */
  readonly sessionIdleMs?: number;
  /** Events that each session stores for disconnected readers, and the total of all sessions. */
  readonly replay?: Partial<EventLogLimits> & { readonly maxTotalBytes?: number };
  /** Reconnection delay for disconnected readers. */
  readonly retryMs?: number;
  /** Time for a disconnected reader to come back, before requests that wait for its answers fail. */
  readonly returnMs?: number;
  readonly now?: () => number;
}

interface Held extends LegacySession, Opener {
  /** Has a stream or a running request. */
  readonly busy: boolean;
  /** Busy, or has a subscription. */
  readonly inUse: boolean;
  usedAt: number;
  open(body: unknown, response: OutgoingResponse, accepts: Accepts): void;
}

type Headers = () => OutgoingHttpHeaders | undefined;

interface PostReply extends Reply {
  /** The session has ended: pending requests get an error. */
  cancel(): void;
}

export const sessionEnded = "this session has ended or does not exist; start another with initialize";

/** Since this revision a stream opens with an event id. */
const primedSince = "2025-11-25";

export function createLegacySessions(
  protocol: Protocol,
  streams: EventStreams,
  underWay: InFlight,
  {
    maxSessions = 10_000,
    unusedSessionMs = 60_000,
    sessionIdleMs = 30 * 60_000,
    replay = {},
    retryMs = 1000,
    returnMs = 30_000,
    now = monotonicMs,
  }: LegacySessionOptions = {},
) {
  const held = new Map<string, Held>();
  /** Sessions of each holder in the order of their last use. */
  const byHolder = new Map<Opener["holder"], Map<string, Held>>();
  /** Sessions without any request since `initialize`, the oldest first. */
  const unused = new Map<string, Held>();
  const shares = createShares(maxSessions);
  const limits: EventLogLimits = { maxEvents: replay.maxEvents ?? 256, maxBytes: replay.maxBytes ?? 1024 * 1024 };
  const pool = createBytePool(replay.maxTotalBytes ?? 64 * 1024 * 1024);
  const sweeping = setInterval(sweep, Math.max(1, Math.min(sessionIdleMs / 4, 30_000))).unref();

  function add(id: string, session: Held): void {
    const { holder, client } = session;
    held.set(id, session);
    unused.set(id, session);
    shares.add(client);
    const own = byHolder.get(holder);
    if (own) own.set(id, session);
    else byHolder.set(holder, new Map([[id, session]]));
  }

  /** False if it no longer exists. */
  function remove(id: string, { holder, client }: Held): boolean {
    if (!held.delete(id)) return false;
    unused.delete(id);
    shares.remove(client);
    const own = byHolder.get(holder);
    own?.delete(id);
    if (own?.size === 0) byHolder.delete(holder);
    return true;
  }

  function touch(id: string, session: Held): void {
    // An ended session must not be added again.
    if (!held.has(id)) return;
    session.usedAt = now();
    const own = byHolder.get(session.holder);
    own?.delete(id);
    own?.set(id, session);
  }

  function sweep(): void {
    const oldest = now() - Math.max(1, sessionIdleMs);
    for (const own of byHolder.values())
      // A touched session moves to the end, where the loop stops.
      for (const [id, session] of own) {
        if (session.usedAt > oldest) break;
        if (session.busy) touch(id, session);
        else session.end();
      }
  }

  function makeRoom({ holder, client }: Opener): boolean {
    const own = byHolder.get(holder);
    const isShareUsedUp = shares.isUsedUp(client);
    if (held.size < maxSessions && !isShareUsedUp) return true;
    // A machine that has used its share can evict only its own sessions.
    const spared = isShareUsedUp ? own && idleIn(own) : (firstUnused() ?? idleOfMost(own));
    spared?.end();
    return spared !== undefined;
  }

  function firstUnused(): Held | undefined {
    for (const session of unused.values())
      return !session.busy && session.usedAt <= now() - unusedSessionMs ? session : undefined;
    return undefined;
  }

  function idleOfMost(own: ReadonlyMap<string, Held> | undefined): Held | undefined {
    let spared = own && idleIn(own);
    // The holder would have one more; holders of few sessions lose none, however many newcomers there are.
    let most = Math.max((own?.size ?? 0) + 1, maxSessions / 10);
    for (const others of byHolder.values()) {
      const idle = others.size > most ? idleIn(others) : undefined;
      if (idle === undefined) continue;
      spared = idle;
      most = others.size;
    }
    return spared;
  }

  function hold(opener: Opener): Held {
    const { caller } = opener;
    // A copy: limits count for each session.
    const client = { ...opener.client };
    const id = crypto.randomUUID();
    const controller = new AbortController();
    const replies = new Set<PostReply>();
    const own = createSessionStreams({
      streams,
      log: limits,
      pool,
      retryMs: () => ((inner.revision ?? "") >= primedSince ? retryMs : undefined),
      returnMs,
      touched: () => touch(id, session),
    });
    const inner = protocol.session({ caller, client, signal: controller.signal, send: own.send }, { modern: false });

    function receive(
      body: unknown,
      response: OutgoingResponse,
      accepts: Accepts,
      over: () => void,
      headers?: Headers,
    ): void {
      touch(id, session);
      const reply = createPostReply(response, accepts, own, headers, {
        refuse: (code, message) => protocol.error(protocol.requestIdOf(body), code, message),
        isRequest: (Array.isArray(body) ? body : [body]).some((each) => protocol.requestIdOf(each) !== null),
        events: streams,
        whenOver() {
          replies.delete(reply);
          underWay.end();
          touch(id, session);
          over();
        },
      });
      replies.add(reply);
      underWay.begin();
      inner.receive(body, reply);
    }

    const agreed = () => inner.revision !== undefined;
    // A failed `initialize` leaves no session.
    const settled = () => (agreed() ? undefined : session.end());

    const session: Held = {
      ...opener,
      usedAt: now(),
      get busy() {
        return replies.size > 0 || own.size > 0;
      },
      get inUse() {
        return session.busy || inner.subscriptions > 0;
      },
      open(body, response, accepts) {
        receive(body, response, accepts, settled, () => (agreed() ? { "Mcp-Session-Id": id } : undefined));
      },
      post(body, response, accepts) {
        unused.delete(id);
        receive(body, response, accepts, () => {});
      },
      listen(response, lastEventId) {
        unused.delete(id);
        touch(id, session);
        own.listen(response, lastEventId);
      },
      end() {
        if (!remove(id, session)) return;
        inner.close();
        controller.abort();
        for (const reply of replies) reply.cancel();
        own.close();
      },
    };
    add(id, session);
    caller.ended?.addEventListener("abort", () => session.end(), { once: true, signal: controller.signal });
    return session;
  }

  return {
    /** `initialize`. False if there are too many sessions and none can be evicted: a holder never loses one to a holder of as many. */
    open(body: unknown, opener: Opener, response: OutgoingResponse, accepts: Accepts): boolean {
      if (!makeRoom(opener)) return false;
      hold(opener).open(body, response, accepts);
      return true;
    },
    /** The session with this id, if it belongs to this caller. */
    find(id: string, caller: Caller): LegacySession | undefined {
      const session = held.get(id);
      return session && callerKey(session.caller) === callerKey(caller) ? session : undefined;
    },
    get size(): number {
      return held.size;
    },
    close(): void {
      clearInterval(sweeping);
      for (const session of held.values()) session.end();
    },
  };
}

/** The session that has been idle longest. */
function idleIn(sessions: ReadonlyMap<string, Held>): Held | undefined {
  for (const session of sessions.values()) if (!session.inUse) return session;
  return undefined;
}

interface PostReplyOptions {
  /** Whether the sender waits for a response. */
  readonly isRequest: boolean;
  readonly events: EventStreams;
  /** An error about what was posted. */
  refuse(code: number, message: string): WireBytes;
  whenOver(): void;
}

function createPostReply(
  response: OutgoingResponse,
  accepts: Accepts,
  streams: SessionStreams,
  headers: Headers | undefined,
  { isRequest, events, refuse, whenOver }: PostReplyOptions,
): PostReply {
  let stream: AnswerStream | undefined;
  let over = false;

  function open(): AnswerStream | undefined {
    // A reader that left before the stream began cannot ask for it.
    if (over || !accepts.events || (stream === undefined && response.destroyed)) return undefined;
    return (stream ??= streams.answer(response, headers?.()));
  }

  function finish(status: number, wire?: WireBytes, retryAfterMs?: number): void {
    if (over) return;
    over = true;
    if (stream === undefined && wire !== undefined && status === 200 && !accepts.json)
      stream = streams.answer(response, headers?.());
    if (stream === undefined && wire === undefined && isRequest) endWithoutResponse();
    else if (stream === undefined)
      sendJson(response, status, wire, retryAfterMs === undefined ? headers?.() : retryAfter(retryAfterMs));
    else {
      if (wire !== undefined) void stream.send(wire);
      stream.end();
    }
    whenOver();
  }

  /** The status 202 is for notifications only. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server */
  function endWithoutResponse(): void {
    // Without an event id, which would make clients reconnect for the response.
    if (accepts.events) events.open(response, { headers: headers?.() }).end();
    else sendJson(response, 200, refuse(-32603, "cancelled"), headers?.());
  }

  return {
    takesNotice: accepts.events,
    lost: () => open()?.lost() ?? AbortSignal.abort(),
    notify: (wire) => open()?.send(wire),
    end: (wire, status = wire === undefined ? 202 : 200, retryAfterMs) => finish(status, wire, retryAfterMs),
    cancel: () => (stream === undefined ? finish(404, refuse(-32600, sessionEnded)) : finish(200)),
  };
}
