/** One whole answer over HTTP: a status, a JSON text of known length, or nothing at all. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { WireBytes } from "../protocol/protocol.ts";
import { byteLength, joinBytes } from "./wire-bytes.ts";

/** An answer this large may sit in memory while its reader is slow; whoever takes nothing of it for so long is cut off. */
const largeBytes = 64 * 1024;
export const stallMs = 60_000;

/** On everything that is sent: kept nowhere, and taken for nothing but what it says it is. */
export const unkept = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;

/** Does nothing if the other side is gone, or has been answered already. */
export function sendJson(
  response: ServerResponse,
  status: number,
  wire?: WireBytes,
  headers?: OutgoingHttpHeaders,
): void {
  if (response.headersSent || response.destroyed) return;
  if (wire === undefined) {
    response.writeHead(status, { ...headers, ...unkept, ...(status !== 204 && { "Content-Length": 0 }) });
    response.end();
    return;
  }
  const length = byteLength(wire);
  // Spelled out: a spread costs more than both headers.
  const own = {
    "Content-Type": "application/json",
    "Content-Length": length,
    "Cache-Control": unkept["Cache-Control"],
    "X-Content-Type-Options": unkept["X-Content-Type-Options"],
  };
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
