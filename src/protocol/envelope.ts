/** Checks how a modern request describes itself, and that HTTP headers agree with it. */
import { decodeHeader } from "./decode-header.ts";
import type { HeaderLookup } from "./protocol.ts";
import { codes, isJsonObject, member, type RequestParams, ProtocolError } from "./message.ts";
import type { Revision } from "./revision.ts";
import { allRevisions, modernRevisions } from "./revisions/index.ts";
import { type ClientInfo, visitorFrom } from "./request-observer.ts";
import type { Caller } from "../resources.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const clientKey = "io.modelcontextprotocol/clientInfo";

const supported = allRevisions.map(({ date }) => date);

/** Methods of modern revisions only: without an envelope they are malformed, not legacy. */
const modernOnly = new Set(["server/discover", "subscriptions/listen"]);

/** The parameter that the header Mcp-Name repeats, by method. */
const namedBy = new Map([
  ["resources/read", "uri"],
  ["tools/call", "name"],
  ["prompts/get", "name"],
]);

export function claimsModern(body: unknown, headerVersion: string | undefined): boolean {
  if (!isJsonObject(body)) return false;
  if (member(member(member(body, "params"), "_meta"), versionKey) !== undefined) return true;
  if (typeof body["method"] === "string" && modernOnly.has(body["method"])) return true;
  return headerVersion !== undefined && modernRevisions.some(({ date }) => date === headerVersion);
}

/** The revision that a modern request names, whether or not it is served. */
export function revisionIn(body: unknown): string | undefined {
  const version = member(member(member(body, "params"), "_meta"), versionKey);
  return typeof version === "string" ? version : undefined;
}

interface Envelope {
  readonly revision: Revision;
  readonly clientCapabilities: RequestParams;
}

const bad = (code: number, message: string, data?: unknown): ProtocolError =>
  new ProtocolError(code, message, { data, status: 400 });

export function openEnvelope(
  method: string,
  params: RequestParams | undefined,
  headers: HeaderLookup | undefined,
): Envelope {
  const meta = member(params, "_meta");
  const version = member(meta, versionKey);
  if (headers && headers.version !== undefined && typeof version === "string" && headers.version !== version) {
    throw bad(codes.headerMismatch, "the header MCP-Protocol-Version and the version in _meta differ");
  }
  if (typeof version !== "string") throw bad(codes.params, `a request must have "${versionKey}" in params._meta`);
  const revision = modernRevisions.find(({ date }) => date === version);
  if (!revision) {
    throw bad(codes.unsupportedVersion, "Unsupported protocol version", { supported, requested: version.slice(0, 64) });
  }
  const clientCapabilities = member(meta, capabilitiesKey);
  if (!isJsonObject(clientCapabilities))
    throw bad(codes.params, `a request must have "${capabilitiesKey}" in params._meta`);
  if (headers) checkHeaders(method, params, headers);
  return { revision, clientCapabilities };
}

export function visitorIn(params: RequestParams | undefined, revision: string, caller: Caller): ClientInfo {
  return visitorFrom(member(member(params, "_meta"), clientKey), revision, caller);
}

function checkHeaders(method: string, params: RequestParams | undefined, headers: HeaderLookup): void {
  if (headers.version === undefined) throw bad(codes.headerMismatch, "the header MCP-Protocol-Version is missing");
  if (headers.method === undefined) throw bad(codes.headerMismatch, "the header Mcp-Method is missing");
  if (headers.method !== method)
    throw bad(codes.headerMismatch, "the header Mcp-Method and the method in the body differ");
  const named = namedBy.get(method);
  if (named === undefined) return;
  const value = member(params, named);
  // Invalid parameters are reported later.
  if (typeof value !== "string") return;
  if (headers.name === undefined) throw bad(codes.headerMismatch, "the header Mcp-Name is missing");
  if (decodeHeader(headers.name) !== value) {
    throw bad(codes.headerMismatch, `the header Mcp-Name and "${named}" in the body differ`);
  }
}
