/** The interface between transports and the protocol. Transports know nothing else of it. */
import type { Caller } from "../resources.ts";

/** An outgoing message: pieces in order, together one JSON text without a line break. */
export type WireBytes = readonly (string | Uint8Array)[];

/** The destination of the response to one incoming body. */
export interface Reply {
  /** Sends a notification or a request before the response (progress, changes of a listen, elicitation). A promise means: wait, the reader is slow. */
  notify(wire: WireBytes): void | Promise<void>;
  /** False if only the response arrives: an HTTP client may accept nothing but one JSON text. */
  readonly takesNotice?: boolean;
  /** Aborted when no answer to a request can come: the reader has been away for a while, or no more input is read. Absent if the session ends then. */
  lost?(): AbortSignal;
  /**
   * Sends the response, once and last. Without a wire there is none (a notification was accepted, or the request was cancelled).
   * The status and the time for `Retry-After` are for HTTP only. Default status: 200, or 202 if nothing was requested.
   */
  end(wire?: WireBytes, status?: number, retryAfterMs?: number): void;
}

/** HTTP headers. Absent on other transports. */
export interface HeaderLookup {
  /** MCP-Protocol-Version */
  readonly version?: string;
  /** Mcp-Method */
  readonly method?: string;
  /** Mcp-Name */
  readonly name?: string;
  /** Mcp-Param-{name}; the case of the name does not matter. */
  param?(name: string): string | undefined;
}

export interface Peer {
  readonly caller: Caller;
  /** Identifies one client for shared limits, as a connection does. Default: the session, or the caller without a session. */
  readonly client?: object;
  /** The transport that the client uses, for `close`. */
  readonly transport?: object;
  /** Aborted when the client is gone, or has cancelled the request by disconnecting. */
  readonly signal: AbortSignal;
}

export interface SessionPeer extends Peer {
  /** Sends a notification outside any request: changes of subscribed resources. A promise means: wait, the reader is slow or away. */
  send(wire: WireBytes): void | Promise<void>;
  /** @internal Stores a change for other instances, before the client gets its response. Absent if the session is only here. */
  save?(change: SessionChange): Promise<void>;
  /** @internal Resumes with what is stored: whether a change was stored is not known. Present with `save`. */
  reread?(): void;
  /** @internal Passes on a response or cancellation that belongs to no request here: another instance may have it. */
  forward?(body: object): void;
}

/** @internal What another instance needs to continue a session. JSON. */
export interface SavedSession {
  readonly revision: string;
  /** The client as it described itself. */
  readonly client: { readonly name?: string; readonly version?: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** URIs of subscribed resources. */
  readonly subscriptions: readonly string[];
  /** Secret that signs the ids of requests to the client. */
  readonly requestSecret: string;
}

/** @internal */
export type SessionChange =
  | { readonly kind: "opened"; readonly session: SavedSession }
  | { readonly kind: "subscribed" | "unsubscribed"; readonly uri: string };

/** A session that begins with `initialize`. Over stdio, modern requests may come in between. */
export interface ProtocolSession {
  /** The negotiated revision; undefined until then. */
  readonly revision: string | undefined;
  /** Number of subscribed resources. */
  readonly subscriptions: number;
  /** Handles one parsed body, a message or a batch. Never throws: errors are sent through the reply. */
  receive(body: unknown, reply: Reply): void;
  /** @internal Handles a response or cancellation that another instance received. */
  receiveForwarded(body: unknown): void;
  /** @internal Starts to announce changes of lists, as `notifications/initialized` does. Returns false if that began before. */
  follow(): boolean;
  /**
   * @internal Watches exactly these resources from now on, and announces those that were not watched, because changes may have been missed; with
   * `isMissed`, everything.
   */
  resume(subscriptions: readonly string[], isMissed: boolean): Promise<void>;
  /** Cancels running requests and sends nothing more. Also happens when the peer's signal is aborted. */
  close(): void;
}

/** The kind of a body posted to the endpoint. */
export type MessageEra =
  /** Self-describing and stateless: goes to `exchange`. */
  | "modern"
  /** `initialize`: begins a session. */
  | "opening"
  /** Belongs to a session. */
  | "legacy";

export interface Protocol {
  /** All revisions served, newest first. */
  readonly revisions: readonly string[];
  classify(body: unknown, headers: HeaderLookup): MessageEra;
  /** Whether this body is a listen, whose response comes only at its end. If absent, nothing is a listen. */
  isListen?(body: unknown): boolean;
  /** One modern request and its response. A listen continues until the peer's signal is aborted or the protocol closes. Never throws. */
  exchange(body: unknown, headers: HeaderLookup | undefined, peer: Peer, reply: Reply): void;
  /** `modern`: whether modern requests may come through this session too (stdio). */
  session(
    peer: SessionPeer,
    options: {
      readonly modern: boolean;
      /** @internal Continues a session of another instance; without a revision if that one is not served here. */
      readonly saved?: SavedSession | undefined;
    },
  ): ProtocolSession;
  /** The id for an error about this body. Null if it is no request, or is a batch. */
  requestIdOf(body: unknown): string | number | null;
  /** An error message, for failures before a session or request is known. */
  error(id: string | number | null, code: number, message: string, data?: unknown): WireBytes;
  /**
   * Ends every listen with its result and accepts nothing more. Resolves when the results have been passed to their replies. With a
   * transport, only for what comes through it.
   */
  close(transport?: object): Promise<void>;
}
