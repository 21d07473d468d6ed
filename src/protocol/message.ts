/** Parses and formats JSON-RPC 2.0 messages. */
import type { WireBytes } from "./protocol.ts";

export type Id = string | number;
export type RequestParams = Readonly<Record<string, unknown>>;

export type JsonRpcMessage =
  | { readonly kind: "request"; readonly id: Id; readonly method: string; readonly params: RequestParams | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: RequestParams | undefined }
  | { readonly kind: "response"; readonly id: Id | null; readonly result: unknown; readonly error: unknown }
  /** Not a message; the id is present if there is one to respond to. */
  | { readonly kind: "wrong"; readonly id: Id | null; readonly why: string };

export const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A protocol error with its own code, unlike errors of resources. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** For HTTP in modern revisions. */
  readonly status: number;

  constructor(code: number, message: string, { data, status = 200 }: { data?: unknown; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member of a parsed object; inherited ones are ignored. */
export function member(of: unknown, name: string): unknown {
  return isJsonObject(of) && Object.hasOwn(of, name) ? of[name] : undefined;
}

export function isId(value: unknown): value is Id {
  return typeof value === "string" ? value.length <= maxIdLength : Number.isSafeInteger(value);
}

const maxIdLength = 1024;

/** The id for an error about this body. Null if it has none, or is a response: its id is one of the other side. */
export function requestIdOf(body: unknown): Id | null {
  if (!isJsonObject(body) || !isId(body["id"])) return null;
  const isResponse = body["method"] === undefined && ("result" in body || "error" in body);
  return isResponse ? null : body["id"];
}

export function parseMessage(body: unknown): JsonRpcMessage {
  if (!isJsonObject(body)) return { kind: "wrong", id: null, why: "a message must be a JSON object" };
  const { jsonrpc, id, method, params } = body;
  const answerTo = requestIdOf(body);
  if (jsonrpc !== "2.0") return { kind: "wrong", id: answerTo, why: 'a message must have "jsonrpc": "2.0"' };
  if (method === undefined) {
    return ("result" in body || "error" in body) && "id" in body
      ? { kind: "response", id: isId(id) ? id : null, result: body["result"], error: body["error"] }
      : { kind: "wrong", id: answerTo, why: 'a request must have a "method"' };
  }
  if (typeof method !== "string") return { kind: "wrong", id: answerTo, why: '"method" must be a string' };
  if (params !== undefined && !isJsonObject(params)) {
    return { kind: "wrong", id: answerTo, why: '"params" must be an object' };
  }
  if (id === undefined) return { kind: "notification", method, params };
  if (!isId(id))
    return { kind: "wrong", id: null, why: '"id" must be a string of at most 1,024 characters or an integer' };
  return { kind: "request", id, method, params };
}

/** Strings are encoded by JSON.stringify; numbers are safe integers. */
function encodeId(id: Id | null): string {
  return typeof id === "string" ? JSON.stringify(id) : String(id);
}

/** An object, or already encoded. */
export type JsonRpcResult = Readonly<Record<string, unknown>> | WireBytes;

export function resultWire(id: Id, result: JsonRpcResult): WireBytes {
  const head = `{"jsonrpc":"2.0","id":${encodeId(id)},"result":`;
  if (!Array.isArray(result)) return [`${head}${JSON.stringify(result)}}`];
  const pieces = result as WireBytes;
  if (pieces.length === 1 && typeof pieces[0] === "string") return [`${head}${pieces[0]}}`];
  return [head, ...pieces, "}"];
}

export function errorWire(id: Id | null, code: number, message: string, data?: unknown): WireBytes {
  const error = data === undefined ? { code, message } : { code, message, data };
  return [`{"jsonrpc":"2.0","id":${encodeId(id)},"error":${JSON.stringify(error)}}`];
}

export function requestWire(id: Id, method: string, params?: RequestParams): WireBytes {
  return [JSON.stringify({ jsonrpc: "2.0", id, method, params })];
}

export function notificationWire(method: string, params?: RequestParams): WireBytes {
  return [JSON.stringify(params ? { jsonrpc: "2.0", method, params } : { jsonrpc: "2.0", method })];
}
