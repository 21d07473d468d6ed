/** Observes clients and what they read. */
import type { ContentBlock } from "./blocks.ts";
import { member } from "./message.ts";

/** A client as it describes itself; not verified. */
export interface ClientInfo {
  readonly name: string;
  readonly version?: string;
  /** The negotiated revision. */
  readonly revision: string;
}

/** Methods must not throw and must be fast: they are called for every request. */
export interface RequestObserver {
  requested(visitor: ClientInfo): void;
  /** Connected until the signal is aborted. */
  came(visitor: ClientInfo, until: AbortSignal): void;
  /** Received the content of this URI. */
  read(visitor: ClientInfo, uri: string): void;
}

const maxLength = 100;

/** From the client's own description. */
export function visitorFrom(info: unknown, revision: string): ClientInfo {
  const [name, version] = [member(info, "name"), member(info, "version")];
  return {
    name: typeof name === "string" && name !== "" ? name.slice(0, maxLength) : "unknown",
    ...(typeof version === "string" && version !== "" && { version: version.slice(0, maxLength) }),
    revision,
  };
}

/** Resources embedded by a tool or prompt count as read. */
export function tellEmbedded(
  observer: RequestObserver | undefined,
  visitor: ClientInfo | undefined,
  blocks: readonly ContentBlock[],
): void {
  if (!observer || !visitor) return;
  for (const block of blocks) if (block.type === "embedded") observer.read(visitor, block.content.uri);
}
