/** An edge whose answers a test writes itself, to see what a transport does with them. */
import type { Edge, Headers, Peer, Reply, SessionPeer, Wire } from "../protocol/edge.ts";

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface FakeSession {
  readonly peer: SessionPeer;
  revision: string | undefined;
  subscriptions: number;
  closed: boolean;
}

export interface FakeEdge extends Edge {
  /** Each session in the order of its beginning. */
  readonly sessions: FakeSession[];
  /** Resolves with the session as soon as it is closed. */
  whenClosed(session: FakeSession): Promise<void>;
}

export interface Script {
  exchange?(message: Message, reply: Reply, peer: Peer, headers: Headers | undefined): void;
  receive?(message: Message, reply: Reply, session: FakeSession): void;
  close?(): Promise<void>;
}

export function wireOf(message: unknown): Wire {
  return [JSON.stringify(message)];
}

export function resultOf(message: Message, result: unknown = {}): Wire {
  return wireOf({ jsonrpc: "2.0", id: message.id, result });
}

/** `initialize` agrees on whatever `protocolVersion` it was given; a notification is taken; anything else is echoed. */
export function createFakeEdge({
  exchange = echo,
  receive = echo,
  close = () => Promise.resolve(),
}: Script = {}): FakeEdge {
  const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
  const sessions: FakeSession[] = [];
  const closings = new Map<FakeSession, PromiseWithResolvers<void>>();

  return {
    revisions,
    sessions,
    whenClosed: (session) => closings.get(session)?.promise ?? Promise.reject(new Error("no such session")),
    classify(body, headers) {
      const { method, params } = body as Message;
      const claimed = (params?._meta as Record<string, unknown> | undefined)?.[
        "io.modelcontextprotocol/protocolVersion"
      ];
      if (claimed !== undefined || headers.version === "2026-07-28") return "modern";
      return method === "initialize" ? "opening" : "legacy";
    },
    isListen: (body) => (body as Message).method === "subscriptions/listen",
    exchange: (body, headers, peer, reply) => exchange(body as Message, reply, peer, headers),
    session(peer) {
      const session: FakeSession = { peer, revision: undefined, subscriptions: 0, closed: false };
      sessions.push(session);
      closings.set(session, Promise.withResolvers());
      return {
        get revision() {
          return session.revision;
        },
        get subscriptions() {
          return session.subscriptions;
        },
        receive(body, reply) {
          const message = body as Message;
          if (message.method === "initialize") session.revision = message.params?.protocolVersion as string | undefined;
          receive(message, reply, session);
        },
        close() {
          session.closed = true;
          closings.get(session)?.resolve();
        },
      };
    },
    error: (id, code, message, data) => wireOf({ jsonrpc: "2.0", id, error: { code, message, data } }),
    close,
  };
}

function echo(message: Message, reply: Reply): void {
  if (message.id === undefined) reply.end();
  else reply.end(resultOf(message, { echo: message.method }));
}
