/** Sessions of the revisions that have them, over HTTP: who holds which, how many there may be, and when they end. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import type { Edge, Reply, Wire } from "../protocol/edge.ts";
import type { Caller } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { answer } from "./answer.ts";
import type { EventLogLimits, SharedBytes } from "./event-log.ts";
import type { EventStreams } from "./event-stream.ts";
import type { AnswerStream, SessionStreams } from "./session-streams.ts";
import { createSessionStreams } from "./session-streams.ts";
import type { UnderWay } from "./under-way.ts";

export interface LegacySession {
  /** A posted message. Its sender may hang up: the work goes on, and what it says can be caught up on. */
  post(body: unknown, response: ServerResponse, accepts: Accepts): void;
  /** A GET: see `SessionStreams.listen`. */
  listen(response: ServerResponse, lastEventId?: string): void;
  end(): void;
}

export interface LegacySessions {
  /** `initialize`. False if there are too many sessions, and none can be spared: no one loses one to a caller who holds as many. */
  open(body: unknown, caller: Caller, response: ServerResponse, accepts: Accepts): boolean;
  /** The session with this id, if it is this caller's. */
  find(id: string, caller: Caller): LegacySession | undefined;
  readonly size: number;
  close(): void;
}

export interface LegacySessionOptions {
  /** When full, a session makes room that is not in use: of the caller who holds most, the one idle longest. */
  readonly maxSessions?: number;
  /** A session without an open stream or a question under way ends after this time. */
  readonly sessionIdleMs?: number;
  /** What each session keeps for readers that lost their connection, and what all keep together. */
  readonly replay?: Partial<EventLogLimits> & { readonly maxTotalBytes?: number };
  /** How soon a reader that lost its connection should come back. */
  readonly retryMs?: number;
  readonly now?: () => number;
}

interface Held extends LegacySession {
  readonly caller: Caller;
  readonly busy: boolean;
  usedAt: number;
  open(body: unknown, response: ServerResponse, accepts: Accepts): void;
}

type Headers = () => OutgoingHttpHeaders | undefined;

interface PostReply extends Reply {
  /** The session has ended: who still waits is told so. */
  withdraw(why: Wire): void;
}

export const ended = "this session has ended, or never was; begin another with initialize";

/** From here on a stream opens with an event id. */
const primedSince = "2025-11-25";

export function createLegacySessions(
  edge: Edge,
  streams: EventStreams,
  underWay: UnderWay,
  {
    maxSessions = 10_000,
    sessionIdleMs = 30 * 60_000,
    replay = {},
    retryMs = 1000,
    now = monotonicMs,
  }: LegacySessionOptions = {},
): LegacySessions {
  const held = new Map<string, Held>();
  /** By the caller's id; each caller's in the order of their last use. */
  const byCaller = new Map<string, Map<string, Held>>();
  const limits: EventLogLimits = { maxEvents: replay.maxEvents ?? 256, maxBytes: replay.maxBytes ?? 1024 * 1024 };
  const shared: SharedBytes = { held: 0, max: replay.maxTotalBytes ?? 64 * 1024 * 1024 };
  const sweeping = setInterval(sweep, Math.max(1, Math.min(sessionIdleMs / 4, 30_000))).unref();

  function add(id: string, session: Held): void {
    const { caller } = session;
    held.set(id, session);
    const own = byCaller.get(caller.id);
    if (own) own.set(id, session);
    else byCaller.set(caller.id, new Map([[id, session]]));
  }

  /** False if it is not there any more. */
  function remove(id: string, { caller }: Held): boolean {
    if (!held.delete(id)) return false;
    const own = byCaller.get(caller.id);
    own?.delete(id);
    if (own?.size === 0) byCaller.delete(caller.id);
    return true;
  }

  function touch(id: string, session: Held): void {
    // Not one that has ended: touching would bring it back.
    if (!held.has(id)) return;
    session.usedAt = now();
    const own = byCaller.get(session.caller.id);
    own?.delete(id);
    own?.set(id, session);
  }

  function sweep(): void {
    const oldest = now() - Math.max(1, sessionIdleMs);
    for (const own of byCaller.values())
      // What is touched moves to the end, where the loop stops.
      for (const [id, session] of own) {
        if (session.usedAt > oldest) break;
        if (session.busy) touch(id, session);
        else session.end();
      }
  }

  function makeRoom({ id }: Caller): boolean {
    if (held.size < maxSessions) return true;
    const own = byCaller.get(id);
    let spared = own && idleIn(own);
    let most = own?.size ?? 0;
    // With one more, the caller would hold that many.
    if (spared) most += 1;
    for (const others of byCaller.values()) {
      const idle = others.size > most ? idleIn(others) : undefined;
      if (idle === undefined) continue;
      spared = idle;
      most = others.size;
    }
    spared?.end();
    return spared !== undefined;
  }

  function hold(caller: Caller): Held {
    const id = crypto.randomUUID();
    const controller = new AbortController();
    const replies = new Set<PostReply>();
    const own = createSessionStreams({
      streams,
      log: limits,
      shared,
      retryMs: () => ((inner.revision ?? "") >= primedSince ? retryMs : undefined),
      touched: () => touch(id, session),
    });
    const inner = edge.session({ caller, signal: controller.signal, send: own.send }, { modern: false });

    function receive(
      body: unknown,
      response: ServerResponse,
      accepts: Accepts,
      over: () => void,
      headers?: Headers,
    ): void {
      touch(id, session);
      const reply = createPostReply(response, accepts, own, headers, () => {
        replies.delete(reply);
        underWay.end();
        touch(id, session);
        over();
      });
      replies.add(reply);
      underWay.begin();
      inner.receive(body, reply);
    }

    const agreed = () => inner.revision !== undefined;
    // An `initialize` that failed leaves nothing to come back to.
    const settled = () => (agreed() ? undefined : session.end());

    const session: Held = {
      caller,
      usedAt: now(),
      get busy() {
        return replies.size > 0 || own.size > 0;
      },
      open(body, response, accepts) {
        receive(body, response, accepts, settled, () => (agreed() ? { "Mcp-Session-Id": id } : undefined));
      },
      post: (body, response, accepts) => receive(body, response, accepts, () => {}),
      listen(response, lastEventId) {
        touch(id, session);
        own.listen(response, lastEventId);
      },
      end() {
        if (!remove(id, session)) return;
        inner.close();
        controller.abort();
        for (const reply of replies) reply.withdraw(edge.error(null, -32600, ended));
        own.close();
      },
    };
    add(id, session);
    return session;
  }

  return {
    open(body, caller, response, accepts) {
      if (!makeRoom(caller)) return false;
      hold(caller).open(body, response, accepts);
      return true;
    },
    find(id, caller) {
      const session = held.get(id);
      return session?.caller.id === caller.id ? session : undefined;
    },
    get size() {
      return held.size;
    },
    close() {
      clearInterval(sweeping);
      for (const session of held.values()) session.end();
    },
  };
}

/** The one that has been idle longest. */
function idleIn(sessions: ReadonlyMap<string, Held>): Held | undefined {
  for (const session of sessions.values()) if (!session.busy) return session;
  return undefined;
}

function createPostReply(
  response: ServerResponse,
  accepts: Accepts,
  streams: SessionStreams,
  headers: Headers | undefined,
  whenOver: () => void,
): PostReply {
  let stream: AnswerStream | undefined;
  let over = false;

  function finish(status: number, wire?: Wire): void {
    if (over) return;
    over = true;
    if (stream === undefined && wire !== undefined && status === 200 && !accepts.json)
      stream = streams.answer(response, headers?.());
    if (stream === undefined) answer(response, status, wire, headers?.());
    else {
      if (wire !== undefined) void stream.send(wire);
      stream.end();
    }
    whenOver();
  }

  return {
    notify(wire) {
      // Nobody could ask for what a reader that is gone never heard of.
      if (over || !accepts.events || (stream === undefined && response.destroyed)) return;
      stream ??= streams.answer(response, headers?.());
      return stream.send(wire);
    },
    end: (wire, status = wire === undefined ? 202 : 200) => finish(status, wire),
    withdraw: (why) => (stream === undefined ? finish(404, why) : finish(200)),
  };
}
