/** Observes clients, what they read, and how their requests end. */
import type { ContentBlock } from "./blocks.ts";
import type { TraceSpan } from "../lib/request-scope.ts";
import { member, type RequestParams } from "./message.ts";
import type { PromptMessage } from "./prompts.ts";
import type { ToolResult } from "./tools.ts";
import type { Caller, Content } from "../resources.ts";

/** A client as it describes itself, which is not verified, and its caller, who is. */
export interface ClientInfo {
  readonly caller: Pick<Caller, "id" | "owner">;
  readonly name: string;
  readonly version?: string;
  /** The negotiated revision. */
  readonly revision: string;
}

/** A result that a client got by a tool, a read, or a prompt. */
export type Given =
  | { readonly tool: string; readonly args: RequestParams; readonly result: ToolResult }
  | { readonly uri: string; readonly contents: readonly Content[] }
  | { readonly prompt: string; readonly messages: readonly PromptMessage[] };

/** A request or a batch that was received. */
export interface ReceivedRequest {
  /** As the client wrote it; undefined for a batch and for a message without a method. */
  readonly method: string | undefined;
  readonly params: unknown;
  /** As the client sent it, in `_meta` or else in a header: https://www.w3.org/TR/trace-context/ */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** How a request or a batch ended. */
export interface RequestOutcome {
  readonly method: string | undefined;
  /** As negotiated, or as the client wrote it; undefined if it is not known. */
  readonly revision: string | undefined;
  /** Type of the source of the mount that answered; undefined if none or several did, or if the transport does not say. */
  readonly source: string | undefined;
  /** "cancelled": without a response. "error": an error that has no name of its own. */
  readonly outcome: "ok" | "cancelled" | "not-found" | "malformed" | "unknown-method" | "invalid" | "failed" | "error";
  readonly ms: number;
}

/** The span of a request. */
export interface RequestSpan {
  readonly span: TraceSpan;
  end(outcome: RequestOutcome): void;
}

/** Methods must not throw and must be fast: they are called for every request. */
export interface RequestObserver {
  requested(visitor: ClientInfo): void;
  /** Connected until the signal is aborted. */
  came(visitor: ClientInfo, until: AbortSignal): void;
  /** Received the content of this URI. */
  read(visitor: ClientInfo, uri: string): void;
  /** Successful results only. */
  gave?(visitor: ClientInfo, given: Given): void;
  /** @internal Begins the span of a request, which ends with it. Undefined if it is not traced. */
  trace?(request: ReceivedRequest): RequestSpan | undefined;
  /** Called just before the response is sent. Notifications are not reported. */
  answered?(request: RequestOutcome): void;
  /** Listens and watched URIs began, or ended if negative. */
  watching?(listens: number, uris: number): void;
}

const maxLength = 100;

/** From the client's own description. */
export function visitorFrom(info: unknown, revision: string, { id, owner }: Caller): ClientInfo {
  const [name, version] = [member(info, "name"), member(info, "version")];
  return {
    caller: { id, owner },
    name: typeof name === "string" && name !== "" ? name.slice(0, maxLength) : "unknown",
    ...(typeof version === "string" && version !== "" && { version: version.slice(0, maxLength) }),
    revision,
  };
}

/** Resources whose content a tool or prompt returns count as read. */
export function tellEmbedded(
  observer: RequestObserver | undefined,
  visitor: ClientInfo | undefined,
  blocks: readonly ContentBlock[],
): void {
  if (!observer || !visitor) return;
  for (const block of blocks) {
    const uri = block.type === "embedded" ? block.content.uri : "uri" in block ? block.uri : undefined;
    if (uri !== undefined) observer.read(visitor, uri);
  }
}
