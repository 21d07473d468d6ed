/** One request of a client with everything needed to handle it: caller, revision, and what the server offers. */
import type { Call } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import type { ProtocolOptions } from "./create-protocol.ts";
import type { InputRequest } from "./input-required.ts";
import type { RequestParams, JsonRpcResult } from "./message.ts";
import type { PromptSet } from "./prompts.ts";
import type { HeaderLookup } from "./protocol.ts";
import type { Revision } from "./revision.ts";
import type { Notice } from "./shape.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Tool } from "./tools.ts";
import type { WatchQuota } from "./watch-quota.ts";
import type { ClientInfo } from "./request-observer.ts";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly object[];
}

/** What this server offers. The same for all requests. */
export interface ServerFeatures extends Pick<
  ProtocolOptions,
  "resources" | "server" | "instructions" | "moreTools" | "observer" | "quotas"
> {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Absent if there never are any. */
  readonly prompts: PromptSet | undefined;
  /** All revisions served, newest first. */
  readonly revisions: readonly string[];
  /** How much one client may watch. */
  readonly watchQuota: WatchQuota;
  readonly wait: Runtime["wait"];
  /** Every open listen; returning one ends it with its result. */
  /** With the transport of each. */
  readonly listens: Map<AsyncIterator<Notice>, object | undefined>;
  isClosing(transport: object | undefined): boolean;
}

export interface ClientRequest {
  readonly offer: ServerFeatures;
  readonly revision: Revision;
  readonly params: RequestParams | undefined;
  /** Of a modern request over HTTP. */
  readonly headers?: HeaderLookup;
  readonly call: Call;
  /** Sends a notification before the response. A promise means: wait, the reader is slow. */
  say(method: string, params: RequestParams): void | Promise<void>;
  /** Whether such notifications arrive at all. */
  readonly isHeard: boolean;
  /** The id of a modern listen. */
  readonly id: string | number;
  /** The transport of a modern request. */
  readonly transport?: object;
  /** Capabilities that this client declared. */
  readonly clientCapabilities: RequestParams;
  /** The client, if there is an observer. */
  readonly visitor?: ClientInfo;
  /** Sends requests to the client, and resolves with the results under the same keys. Present in a session whose client can receive them. */
  askClient?(requests: Readonly<Record<string, InputRequest>>): Promise<RequestParams>;
  /** Present in a session. */
  readonly subscriptions?: Subscriptions;
}

export interface RequestHandler {
  /** What the server must offer for this method to exist. */
  readonly needs?: "tools" | "prompts";
  answer(question: ClientRequest): JsonRpcResult | Promise<JsonRpcResult>;
}

export function isOffered(ask: RequestHandler | undefined, offer: ServerFeatures): ask is RequestHandler {
  if (ask?.needs === undefined) return ask !== undefined;
  return ask.needs === "tools" ? offer.tools.size > 0 || offer.moreTools !== undefined : offer.prompts !== undefined;
}
