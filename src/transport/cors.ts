/** Lets pages of allowed origins send requests and read the responses. */
import { toOrigins } from "./guard.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { sendJson } from "./send-json.ts";

export const methods = "GET, POST, DELETE, OPTIONS";

/** What pages of other origins may send. */
const permissions = {
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers":
    "Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
  "Access-Control-Max-Age": 7200,
};

/** Returns a function that sets the headers for a request's origin, and says whether that is an allowed one. */
export function createCors(allowedOrigins: readonly string[]) {
  const origins = toOrigins(allowedOrigins);

  return (response: OutgoingResponse, origin: string | undefined): boolean => {
    // Added: an app may have its own.
    if (origins.size > 0) response.appendHeader("Vary", "Origin");
    if (origin === undefined || !origins.has(origin.toLowerCase())) return false;
    response.setHeader("Access-Control-Allow-Origin", origin);
    response.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id");
    return true;
  };
}

/** The response to OPTIONS. */
export function sendPreflight(response: OutgoingResponse, isAllowedOrigin: boolean): void {
  sendJson(response, 204, undefined, { Allow: methods, ...(isAllowedOrigin && permissions) });
}
