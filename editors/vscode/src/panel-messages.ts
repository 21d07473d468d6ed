/** Messages between the panel's page and the extension. A connection is one run of the server. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";

export type FromPage =
  | { readonly kind: "open"; readonly connection: number }
  | { readonly kind: "close"; readonly connection: number }
  | { readonly kind: "send"; readonly connection: number; readonly message: JSONRPCMessage }
  | { readonly kind: "choose"; readonly uris: readonly string[] };

export type ToPage =
  | { readonly kind: "opened"; readonly connection: number }
  | { readonly kind: "message"; readonly connection: number; readonly message: JSONRPCMessage }
  /** With a reason if the server could not be started. */
  | { readonly kind: "closed"; readonly connection: number; readonly reason?: string };

/** Undefined for anything else: a page shows files of others, so it is not trusted with more than this. */
export function parseFromPage(value: unknown): FromPage | undefined {
  if (typeof value !== "object" || value === null || !("kind" in value)) return undefined;
  const { kind, connection, message, uris } = value as Readonly<Record<string, unknown>>;
  if (kind === "choose")
    return Array.isArray(uris) && uris.every((uri) => typeof uri === "string") ? { kind, uris } : undefined;
  if (typeof connection !== "number") return undefined;
  if (kind === "open" || kind === "close") return { kind, connection };
  if (kind !== "send" || typeof message !== "object" || message === null) return undefined;
  return { kind, connection, message: message as JSONRPCMessage };
}
