/** The interface between the gate of a server and whoever can verify access tokens. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallerConfig } from "../config/access.ts";
import type { AuthSettings, ScopeSettings } from "../config/auth.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import type { Store } from "../state/store.ts";

/** What a valid token says. */
export interface VerifiedToken {
  readonly issuer: string;
  /** Identifies the caller at this issuer. */
  readonly subject: string;
  /** Name of the configured caller whom the token belongs to. Absent if the issuer alone knows the caller. */
  readonly caller?: string;
  /** Whether it belongs to the operator of the server. Never derived from a claim. */
  readonly owner?: boolean;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch, including the permitted clock skew. */
  readonly expiresMs: number;
  /** Verified again at the first use after this time, in milliseconds of the monotonic clock. Absent: valid until it expires. */
  readonly verifyAgainMs?: number;
  /** Aborted when the token is no longer valid before it expires: it was revoked, or its key withdrawn. The same object each time the token is verified. */
  readonly ended?: AbortSignal;
}

export interface TokenVerifier {
  /** Identifiers of the authorization servers that issue tokens for this server, for its metadata. */
  readonly issuers: readonly string[];
  /** Rejects with a TokenRefusal if the token is not valid, and with "unavailable" if that cannot be decided now. */
  verify(token: string, signal: AbortSignal): Promise<VerifiedToken>;
  /**
   * Answers a request without a token, such as one to the endpoints of an authorization server of its own. Returns false if the path
   * is not one of them. Absent if there are none.
   */
  readonly answer?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
  /** Whether links of other sites may open a page that `answer` serves. */
  readonly isPage?: (path: string) => boolean;
  /** Applies changed settings. Absent if they take effect after a restart. */
  readonly reload?: (auth: AuthSettings | undefined) => void;
  close(): Promise<void>;
}

/** What a verifier is opened with. */
export interface VerifierContext {
  /** URL of this server for its clients, without a slash at the end. */
  readonly publicUrl: string;
  /** The audience that tokens must have by default: the URL of the MCP endpoint. */
  readonly resource: string;
  /** The callers of the current config. */
  readonly callers: () => readonly CallerConfig[];
  /** Scopes that operations need. */
  readonly scopes?: ScopeSettings;
  /** The caller whom a token of this server or a one-time code admits. A code is used up. */
  readonly admit: (secret: string) => Caller | undefined | Promise<Caller | undefined>;
  /** The holder of a token of this server, given by its SHA-256. Undefined if the token is no longer valid. */
  readonly findByHash: (hash: string) => Caller | undefined;
  /** False if a token of this server may be valid and is not found, because what is stored cannot be confirmed at present. */
  readonly isCurrent: () => boolean;
  /** The machine that a request comes from, for limits. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Called when a person signs in on a page, with undefined if they may not. */
  readonly signedIn?: (caller: string | undefined, address: string) => Promise<void> | undefined;
  /** Called when a caller has allowed a client to act for them. */
  readonly allowed?: (caller: string, client: string) => void;
  readonly stateFolder: string;
  /** Real path of the config. */
  readonly config: string;
  /** What the instances of this server share. Default: sign-ins are stored in the state folder. */
  readonly shared?: Store | undefined;
  readonly runtime: Runtime;
}

/** Why a token is refused. Texts never contain any part of the token. */
export class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";
  /** For the operator; `message` is for the client. */
  readonly reason: string;

  constructor(message: string, reason = message, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
