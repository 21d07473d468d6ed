/** One request as the HTTP core sees it, whichever runtime received it. */
import type { IncomingHttpHeaders } from "node:http";
import type { RequestScope } from "../lib/request-scope.ts";
import type { WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { RequestBody } from "./body.ts";
import type { Client } from "./clients.ts";
import type { Connection } from "./guard.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

/** What an app already knows about a request that it hands over. */
export interface RequestContext {
  /**
   * The caller whom the app has authenticated: the gate and `identify` are not consulted. A caller that is present but undefined is a
   * stranger, who gets 401.
   */
  readonly caller?: Caller | undefined;
  /** The body, if the app has read it: a string, bytes, or a parsed value. Limits of size and depth still apply. */
  readonly body?: unknown;
}

export interface IncomingRequest {
  readonly method: string | undefined;
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Path and query. */
  readonly url: string;
  /** Path below the base path. */
  readonly path: string;
  /** What precedes `path` in URLs of clients; "" at the root. */
  readonly basePath: string;
  /** Whether the base path precedes `path` in the URL, as far as it is known. */
  readonly isBelowBase: boolean;
  readonly context: RequestContext | undefined;
  readonly response: OutgoingResponse;
  /** Set once the request is served, if it has an id. */
  scope: RequestScope | undefined;
  readonly connection: Connection;
  /** Whether the client sends its body only after "100 Continue". */
  readonly awaitsContinue: boolean;
  clientFor(caller: Caller): Client;
  /** Whether the app has read the body, which is then no longer as it was sent. */
  readonly isBodyRead: boolean;
  /** Calls back once, and never if the client disconnects first. */
  readBody(done: (body: RequestBody) => void): void;
  /** Sends status 413 while the client may still be sending. */
  sendTooLarge(wire: WireBytes): void;
}
