/** One question of a client, ready to be answered: what was asked, by whom, in which revision, and what there is to answer with. */
import type { Call, Caller, Resources } from "../resources.ts";
import type { RequestParams, JsonRpcResult } from "./message.ts";
import type { PromptSet } from "./prompts.ts";
import type { Revision } from "./revision.ts";
import type { Notice } from "./shape.ts";
import type { Subscriptions } from "./subscriptions.ts";
import type { Tool, ToolSet } from "./tools.ts";
import type { WatchQuota } from "./watch-quota.ts";
import type { ClientInfo, RequestObserver } from "./request-observer.ts";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly object[];
}

/** What this server has to answer with. The same for all questions. */
export interface ServerFeatures {
  readonly resources: Resources;
  readonly server: ServerInfo;
  /** A function where they may change, or say more to one caller than to another. */
  readonly instructions: string | ((caller: Caller) => string) | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Beside these. Absent where there are none, now and later. */
  readonly moreTools: ToolSet | undefined;
  /** Absent where there are none, now and later. */
  readonly prompts: PromptSet | undefined;
  /** All revisions served, newest first. */
  readonly revisions: readonly string[];
  /** How much one client may watch. */
  readonly watchQuota: WatchQuota;
  /** Told who asks, and what they were given. */
  readonly observer: RequestObserver | undefined;
  /** Every listen that is going on; returning one ends it with its result. */
  readonly listens: Set<AsyncIterator<Notice>>;
  isClosing(): boolean;
}

export interface ClientRequest {
  readonly offer: ServerFeatures;
  readonly revision: Revision;
  readonly params: RequestParams | undefined;
  readonly call: Call;
  /** Says something on the way to the answer. A promise means: wait, the reader is slow. */
  say(method: string, params: RequestParams): void | Promise<void>;
  /** Whether what is said on the way arrives at all. */
  readonly isHeard: boolean;
  /** The id that a modern listen is known by. */
  readonly id: string | number;
  /** What this client declared that it can do. */
  readonly clientCapabilities: RequestParams;
  /** Who asks, where somebody wants to know. */
  readonly visitor?: ClientInfo | undefined;
  /** Present in a session. */
  readonly subscriptions?: Subscriptions;
}

export interface RequestHandler {
  /** Absent from a server that has none of these. */
  readonly needs?: "tools" | "prompts";
  answer(question: ClientRequest): JsonRpcResult | Promise<JsonRpcResult>;
}

export function isOffered(ask: RequestHandler | undefined, offer: ServerFeatures): ask is RequestHandler {
  if (ask?.needs === undefined) return ask !== undefined;
  return ask.needs === "tools" ? offer.tools.size > 0 || offer.moreTools !== undefined : offer.prompts !== undefined;
}
