/** One client's line to a server, in one revision over one transport: thin, raw, and suspicious of every message that comes. */
import type { JsonRecord } from "../../wire/json.ts";
import type { Revision } from "../../wire/schemas.ts";
import type { Inbox } from "./inbox.ts";

export type LineTransport = "stdio" | "http" | "sse";

export interface Failure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A question under way. */
export interface Asked {
  readonly id: string | number;
  /** The whole response: with `result` or with `error`. */
  readonly answer: Promise<JsonRecord>;
  /** What is said on the way to the answer. */
  readonly said: Inbox;
  /** Withdraws the question in the way of its transport. */
  cancel(): Promise<void>;
}

export interface AskOptions {
  readonly id?: string | number;
  readonly meta?: JsonRecord;
}

export type Heard = { readonly updated: string } | "list-changed";

/** What one asked to hear of, in the words of either era. */
export interface Ear {
  /** The URIs that the server agreed to announce. */
  readonly uris: readonly string[];
  next(): Promise<Heard>;
  /** Announcements that came and were not read yet. */
  readonly size: number;
  close(): Promise<void>;
}

export interface Line {
  readonly transport: LineTransport;
  readonly revision: Revision;
  readonly modern: boolean;
  /** The result of `initialize`, or of `server/discover`. */
  readonly opened: JsonRecord;
  start(method: string, params?: JsonRecord, options?: AskOptions): Promise<Asked>;
  result(method: string, params?: JsonRecord): Promise<JsonRecord>;
  error(method: string, params?: JsonRecord): Promise<Failure>;
  notify(method: string, params?: JsonRecord): Promise<void>;
  /** Sends a message as it is. */
  send(message: unknown): Promise<void>;
  /** What came without being asked for: notifications of a session, answers to what `send` sent. */
  readonly unasked: Inbox;
  hear(what: { readonly uris?: readonly string[]; readonly list?: boolean }): Promise<Ear>;
  close(): Promise<void>;
}

export const clientInfo: JsonRecord = { name: "line", version: "1.0.0" };

/** What every modern request says of itself. */
export function modernMeta(revision: string): JsonRecord {
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}
