/** Sends one complete HTTP response: a status, and a JSON text of known length or no body. */
import type { OutgoingHttpHeaders } from "node:http";
import { byteLength } from "../lib/byte-length.ts";
import type { WireBytes } from "../protocol/protocol.ts";
import { requestIdHeader } from "./request-ids.ts";
import { joinBytes } from "./wire-bytes.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

/** A response this large may stay in memory for a slow reader; a reader that accepts nothing for this long is disconnected. */
const largeBytes = 64 * 1024;
export const stallMs = 60_000;

/** Sent with every response: prevents caching, content sniffing, and use as a document or in pages of other sites. */
export const unkept = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

/** The header that says when to try again, in whole seconds. */
export function retryAfter(ms: number): OutgoingHttpHeaders {
  return { "Retry-After": Math.ceil(ms / 1000) };
}

/** The header with the id of the request, if it has one. */
export function idHeaderOf({ requestId }: Pick<OutgoingResponse, "requestId">): OutgoingHttpHeaders | undefined {
  return requestId === undefined ? undefined : { [requestIdHeader]: requestId };
}

/** Does nothing if the client is gone, or already has a response. */
export function sendJson(
  response: OutgoingResponse,
  status: number,
  wire?: WireBytes,
  headers?: OutgoingHttpHeaders,
): void {
  if (response.headersSent || response.destroyed) return;
  if (wire === undefined) {
    response.writeHead(status, {
      ...headers,
      ...unkept,
      ...idHeaderOf(response),
      ...(status !== 204 && { "Content-Length": 0 }),
    });
    response.end();
    return;
  }
  const length = byteLength(wire);
  // Written out: a spread costs more than the headers.
  const own: OutgoingHttpHeaders = {
    "Content-Type": "application/json",
    "Content-Length": length,
    "Cache-Control": unkept["Cache-Control"],
    "X-Content-Type-Options": unkept["X-Content-Type-Options"],
    "Content-Security-Policy": unkept["Content-Security-Policy"],
    "Referrer-Policy": unkept["Referrer-Policy"],
    "Cross-Origin-Opener-Policy": unkept["Cross-Origin-Opener-Policy"],
    "Cross-Origin-Resource-Policy": unkept["Cross-Origin-Resource-Policy"],
  };
  if (response.requestId !== undefined) own[requestIdHeader] = response.requestId;
  response.writeHead(status, headers ? { ...headers, ...own } : own);
  const text = joinBytes(wire);
  if (text !== undefined) {
    response.end(text);
    return;
  }
  response.cork();
  for (const piece of wire) response.write(piece);
  response.end();
  if (length > largeBytes && response.writableLength > 0) response.setTimeout(stallMs, () => response.destroy());
}
