/** Who asks and what they read, told as it happens to whoever keeps a register of it. */
import type { ContentBlock } from "./blocks.ts";
import { member } from "./message.ts";

/** A client, as it calls itself: no proof of anything. */
export interface ClientInfo {
  readonly name: string;
  readonly version?: string;
  /** The revision that it speaks. */
  readonly revision: string;
}

/** None of this throws, and all of it is quick: it is called for every question. */
export interface RequestObserver {
  asked(visitor: ClientInfo): void;
  /** Stays connected until the signal ends. */
  came(visitor: ClientInfo, until: AbortSignal): void;
  /** Was given what is at this URI. */
  read(visitor: ClientInfo, uri: string): void;
}

const maxLength = 100;

/** From what a client says of itself. */
export function visitorFrom(info: unknown, revision: string): ClientInfo {
  const [name, version] = [member(info, "name"), member(info, "version")];
  return {
    name: typeof name === "string" && name !== "" ? name.slice(0, maxLength) : "unknown",
    ...(typeof version === "string" && version !== "" && { version: version.slice(0, maxLength) }),
    revision,
  };
}

/** What a tool or a prompt embedded was read just as well. */
export function tellEmbedded(
  observer: RequestObserver | undefined,
  visitor: ClientInfo | undefined,
  blocks: readonly ContentBlock[],
): void {
  if (!observer || !visitor) return;
  for (const block of blocks) if (block.type === "embedded") observer.read(visitor, block.content.uri);
}
