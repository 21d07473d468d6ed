/** HTTP sessions of the older revisions: ownership, limits and expiry. */
import type { OutgoingHttpHeaders } from "node:http";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { ResourceError } from "../errors.ts";
import type { Protocol, SavedSession } from "../protocol/protocol.ts";
import { type Caller, callerKey } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { createBytePool } from "./byte-pool.ts";
import { type Client, createShares } from "./clients.ts";
import type { EventLogLimits } from "./event-log.ts";
import type { EventStreams } from "./event-stream.ts";
import { createPostReply, type PostReply } from "./post-reply.ts";
import type { SessionNews, SessionRecords } from "./session-records.ts";
import { createSessionStreams } from "./session-streams.ts";
import { createStoredSession } from "./stored-session.ts";
import type { InFlight } from "./in-flight.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

export interface LegacySession {
  /** Handles a posted message. If the sender disconnects, the work continues and its events can be replayed. */
  post(body: unknown, response: OutgoingResponse, accepts: Accepts): void;
  /** A GET: see `SessionStreams.listen`. */
  listen(response: OutgoingResponse, lastEventId?: string): void;
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
  /** @internal Sessions that other instances continue. Default: a session ends with this handler. */
  readonly records?: SessionRecords;
  readonly now?: () => number;
}

interface Held extends LegacySession, Opener {
  /** Has a stream or a running request. */
  readonly busy: boolean;
  /** Busy, or has a subscription. */
  readonly inUse: boolean;
  usedAt: number;
  open(body: unknown, response: OutgoingResponse, accepts: Accepts): void;
  /** Ends it here; another instance may continue it. */
  release(): void;
  /** Another instance has changed or used it. */
  hear(news: SessionNews): void;
  /** Keeps its record from expiring. */
  readonly used?: (() => void) | undefined;
}

type Headers = () => OutgoingHttpHeaders | undefined;

/** Since this revision a stream opens with an event id. */
const primedSince = "2025-11-25";
/** As `crypto.randomUUID` makes them. */
const isSessionId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createLegacySessions(
  protocol: Protocol,
  streams: EventStreams,
  underWay: InFlight,
  options: LegacySessionOptions = {},
) {
  const {
    maxSessions = 10_000,
    unusedSessionMs = 60_000,
    sessionIdleMs = 30 * 60_000,
    replay = {},
    retryMs = 1000,
    returnMs = 30_000,
    records,
    now = monotonicMs,
  } = options;
  const held = new Map<string, Held>();
  /** Sessions of each holder in the order of their last use. */
  const byHolder = new Map<Opener["holder"], Map<string, Held>>();
  /** Sessions without any request since `initialize`, the oldest first. */
  const unused = new Map<string, Held>();
  const shares = createShares(maxSessions);
  const limits: EventLogLimits = { maxEvents: replay.maxEvents ?? 256, maxBytes: replay.maxBytes ?? 1024 * 1024 };
  const pool = createBytePool(replay.maxTotalBytes ?? 64 * 1024 * 1024);
  /** Sessions of other instances that are being continued, with what was heard of them meanwhile. */
  const loading = new Map<string, { readonly found: Promise<Held | undefined>; readonly heard: SessionNews[] }>();
  const closing = new AbortController();
  /** Tells event ids of this instance from those of others. */
  const instanceTag = crypto.randomUUID().slice(0, 8);
  records?.follow(hear, closing.signal);
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
    session.used?.();
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
        else session.release();
      }
  }

  function makeRoom({ holder, client }: Opener): boolean {
    const own = byHolder.get(holder);
    const isShareUsedUp = shares.isUsedUp(client);
    if (held.size < maxSessions && !isShareUsedUp) return true;
    // A machine that has used its share can evict only its own sessions.
    const spared = isShareUsedUp ? own && idleIn(own) : (firstUnused() ?? idleOfMost(own));
    spared?.release();
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

  function hear(news: SessionNews): void {
    if (news.kind === "missed") {
      for (const session of held.values()) session.hear(news);
      for (const { heard } of loading.values()) heard.push(news);
      return;
    }
    loading.get(news.id)?.heard.push(news);
    held.get(news.id)?.hear(news);
  }

  function hold(opener: Opener, known?: { readonly id: string; readonly saved: SavedSession }): Held {
    const { caller } = opener;
    // A copy: limits count for each session.
    const client = { ...opener.client };
    const id = known?.id ?? crypto.randomUUID();
    const controller = new AbortController();
    const replies = new Set<PostReply>();
    const own = createSessionStreams({
      streams,
      log: limits,
      pool,
      retryMs: () => ((inner.revision ?? "") >= primedSince ? retryMs : undefined),
      returnMs,
      touched: () => touch(id, session),
      tag: records && instanceTag,
    });
    const stored =
      records &&
      createStoredSession({
        records,
        id,
        owner: callerKey(caller),
        isNew: known === undefined,
        extendMs: sessionIdleMs / 4,
        now,
        signal: controller.signal,
        isHeard: () => own.isHeard,
        resume: (uris, isMissed) => inner.resume(uris, isMissed),
        gone: () => session.release(),
      });
    const inner = protocol.session(
      {
        caller,
        client,
        signal: controller.signal,
        send: own.send,
        ...(stored && { save: stored.save, reread: stored.changed, forward: stored.forward }),
      },
      { modern: false, saved: known?.saved },
    );

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
    const settled = () => (agreed() ? undefined : session.release());

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
        const isFromHere = own.isFromHere(lastEventId);
        own.listen(response, lastEventId);
        if (!stored) return;
        // Another instance may have received `notifications/initialized`, and lists after it.
        const isFollowedElsewhere = inner.follow();
        stored.opened(isFromHere && !isFollowedElsewhere);
      },
      release() {
        if (!remove(id, session)) return;
        inner.close();
        controller.abort();
        for (const reply of replies) reply.cancel();
        own.close();
      },
      hear(news) {
        if (news.kind === "ended") session.release();
        else if (news.kind === "received") inner.receiveForwarded(news.body);
        else stored?.changed();
      },
      used: stored?.used,
    };
    add(id, session);
    caller.ended?.addEventListener("abort", () => session.release(), { once: true, signal: controller.signal });
    return session;
  }

  /** Continues a session of another instance. Undefined if there is none, or it belongs to another caller. */
  async function load(id: string, opener: Opener, saved: Promise<SavedSession | undefined>): Promise<Held | undefined> {
    const found = await saved;
    if (!found || closing.signal.aborted || !protocol.revisions.includes(found.revision)) return undefined;
    if (!makeRoom(opener)) throw new ResourceError("busy", "too many sessions; try again later");
    const session = hold(opener, { id, saved: found });
    unused.delete(id);
    return session;
  }

  /** The session with this id, if it belongs to this caller. A promise if only another instance may have it; rejects if that is not known. */
  function find(id: string, opener: Opener): LegacySession | undefined | Promise<LegacySession | undefined> {
    const owner = callerKey(opener.caller);
    const isOwned = (session: Held | undefined) =>
      session && callerKey(session.caller) === owner ? session : undefined;
    const session = held.get(id);
    if (session || !records || !isSessionId.test(id)) return isOwned(session);
    const known = loading.get(id);
    // Perhaps for another caller, who does not own it.
    if (known) return known.found.catch(() => undefined).then(() => find(id, opener));
    const heard: SessionNews[] = [];
    const found = load(id, opener, records.find(id, owner)).finally(() => loading.delete(id));
    loading.set(id, { found, heard });
    return found.then((loaded) => {
      for (const news of heard) loaded?.hear(news);
      return held.get(id) === loaded ? loaded : undefined;
    });
  }

  async function endEverywhere(id: string, owner: string, shared: SessionRecords): Promise<boolean> {
    const session = held.get(id);
    session?.release();
    const existed = await shared.remove(id, owner);
    // A request may have continued it here meanwhile. Another instance hears it from the records.
    if (existed) hear({ kind: "ended", id });
    return existed || session !== undefined;
  }

  return {
    /** `initialize`. False if there are too many sessions and none can be evicted: a holder never loses one to a holder of as many. */
    open(body: unknown, opener: Opener, response: OutgoingResponse, accepts: Accepts): boolean {
      if (!makeRoom(opener)) return false;
      hold(opener).open(body, response, accepts);
      return true;
    },
    find,
    /** Ends a session on all instances. False if this caller has none with this id; rejects if that is not known. */
    end(id: string, caller: Caller): boolean | Promise<boolean> {
      const session = held.get(id);
      const owner = callerKey(caller);
      if (session && callerKey(session.caller) !== owner) return false;
      if (records && isSessionId.test(id)) return endEverywhere(id, owner, records);
      session?.release();
      return session !== undefined;
    },
    get size(): number {
      return held.size;
    },
    close(): void {
      clearInterval(sweeping);
      closing.abort();
      for (const session of held.values()) session.release();
    },
  };
}

/** The session that has been idle longest. */
function idleIn(sessions: ReadonlyMap<string, Held>): Held | undefined {
  for (const session of sessions.values()) if (!session.inUse) return session;
  return undefined;
}
