/** A fake protocol whose responses a test writes itself, to test transports. */
import { requestIdOf } from "../protocol/message.ts";
import type { Protocol, HeaderLookup, Peer, Reply, SessionPeer, WireBytes } from "../protocol/protocol.ts";

export interface FakeMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface FakeSession {
  readonly peer: SessionPeer;
  revision: string | undefined;
  subscriptions: number;
  /** Messages that came from another instance. */
  readonly forwarded: unknown[];
  /** Calls of `resume`. */
  readonly resumed: { readonly uris: readonly string[]; readonly isMissed: boolean }[];
  closed: boolean;
}

export interface FakeProtocol extends Protocol {
  /** Sessions in the order of their start. */
  readonly sessions: FakeSession[];
  /** Resolves with the session as soon as it is closed. */
  whenClosed(session: FakeSession): Promise<void>;
}

export interface Script {
  exchange?(message: FakeMessage, reply: Reply, peer: Peer, headers: HeaderLookup | undefined): void;
  receive?(message: FakeMessage, reply: Reply, session: FakeSession): void;
  close?(): Promise<void>;
}

export function wireOf(message: unknown): WireBytes {
  return [JSON.stringify(message)];
}

export function resultOf(message: FakeMessage, result: unknown = {}): WireBytes {
  return wireOf({ jsonrpc: "2.0", id: message.id, result });
}

/** `initialize` accepts any `protocolVersion`; a notification is accepted; anything else is echoed. */
export function createFakeProtocol({
  exchange = echo,
  receive = echo,
  close = () => Promise.resolve(),
}: Script = {}): FakeProtocol {
  const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
  const sessions: FakeSession[] = [];
  const closings = new Map<FakeSession, PromiseWithResolvers<void>>();

  return {
    revisions,
    sessions,
    whenClosed: (session) => closings.get(session)?.promise ?? Promise.reject(new Error("no such session")),
    classify(body, headers) {
      const { method, params } = body as FakeMessage;
      const claimed = (params?._meta as Record<string, unknown> | undefined)?.[
        "io.modelcontextprotocol/protocolVersion"
      ];
      if (claimed !== undefined || headers.version === "2026-07-28") return "modern";
      return method === "initialize" ? "opening" : "legacy";
    },
    isListen: (body) => (body as FakeMessage).method === "subscriptions/listen",
    exchange: (body, headers, peer, reply) => exchange(body as FakeMessage, reply, peer, headers),
    session(peer, { saved }) {
      const session: FakeSession = {
        peer,
        revision: saved?.revision,
        subscriptions: 0,
        forwarded: [],
        resumed: [],
        closed: false,
      };
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
          const message = body as FakeMessage;
          if (message.method === "initialize") session.revision = message.params?.protocolVersion as string | undefined;
          receive(message, reply, session);
        },
        receiveForwarded: (body) => void session.forwarded.push(body),
        follow: () => false,
        async resume(uris, isMissed) {
          session.resumed.push({ uris, isMissed });
        },
        close() {
          session.closed = true;
          closings.get(session)?.resolve();
        },
      };
    },
    requestIdOf,
    error: (id, code, message, data) => wireOf({ jsonrpc: "2.0", id, error: { code, message, data } }),
    close,
  };
}

function echo(message: FakeMessage, reply: Reply): void {
  if (message.id === undefined) reply.end();
  else reply.end(resultOf(message, { echo: message.method }));
}
