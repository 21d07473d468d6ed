/** Where the wire's words meet the house's. A transport knows this page and nothing else of the protocol. */
import type { Caller } from "../resources.ts";

/** A message as it goes out: pieces in order, together one JSON text without a line break. */
export type WireBytes = readonly (string | Uint8Array)[];

/** Where the answer to one incoming body goes. */
export interface Reply {
  /** Something said on the way to the answer (progress, the changes of a listen). A promise means: wait, the reader is slow. */
  notify(wire: WireBytes): void | Promise<void>;
  /** False where only the answer itself arrives: an HTTP client may take nothing but one JSON text. */
  readonly takesNotice?: boolean;
  /**
   * The answer, once; nothing follows it. Without a wire there is nothing to say (a notification was taken, or the question was
   * withdrawn). The status is for HTTP alone: 200 (202 without a wire) unless said.
   */
  end(wire?: WireBytes, status?: number): void;
}

/** What HTTP says beside the body. Absent on other transports. */
export interface HeaderLookup {
  /** MCP-Protocol-Version */
  readonly version?: string | undefined;
  /** Mcp-Method */
  readonly method?: string | undefined;
  /** Mcp-Name */
  readonly name?: string | undefined;
}

export interface Peer {
  readonly caller: Caller;
  /** Stands for one client where limits are shared: a connection. Unless said, a session is one client, and so is a caller without a session. */
  readonly client?: object;
  /** Ends when the other side is gone, or has withdrawn the question by hanging up. */
  readonly signal: AbortSignal;
}

export interface SessionPeer extends Peer {
  /** What no question asked for: changes of what the session subscribed to. A promise means: wait, the reader is slow or away. */
  send(wire: WireBytes): void | Promise<void>;
}

/** One conversation that begins with `initialize`. Over stdio, modern questions may come in between. */
export interface ProtocolSession {
  /** The revision that was agreed on; undefined until then. */
  readonly revision: string | undefined;
  /** How many resources it is subscribed to. */
  readonly subscriptions: number;
  /** Takes one parsed body, a message or a batch. Never throws: what is wrong is answered through the reply. */
  receive(body: unknown, reply: Reply): void;
  /** Nothing is sent afterwards; what was under way is withdrawn. Ends when the peer's signal does, too. */
  close(): void;
}

/** What a body posted to the endpoint is. */
export type MessageEra =
  /** Self-describing, without memory: goes to `exchange`. */
  | "modern"
  /** `initialize`: begins a session. */
  | "opening"
  /** Belongs to a session. */
  | "legacy";

export interface Protocol {
  /** All revisions served, newest first. */
  readonly revisions: readonly string[];
  classify(body: unknown, headers: HeaderLookup): MessageEra;
  /** Whether this body asks to listen: it is answered only when it is ended. Without it, nothing is taken for a listen. */
  isListen?(body: unknown): boolean;
  /** One modern question and its answer. A listen goes on until the peer's signal ends or the edge closes. Never throws. */
  exchange(body: unknown, headers: HeaderLookup | undefined, peer: Peer, reply: Reply): void;
  /** `modern`: whether questions of the modern era may come through this session too (stdio). */
  session(peer: SessionPeer, options: { readonly modern: boolean }): ProtocolSession;
  /** An error as a message, for what goes wrong before a session or a question is known. */
  error(id: string | number | null, code: number, message: string, data?: unknown): WireBytes;
  /** Ends every listen with its result, then lets nothing more begin. Resolves when the results have been handed to their replies. */
  close(): Promise<void>;
}
