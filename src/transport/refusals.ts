/** Error responses of the HTTP transport. */
import type { OutgoingHttpHeaders } from "node:http";
import type { QuotaError } from "../errors.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { GateRefusal } from "./handler-options.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { retryAfter, sendJson } from "./send-json.ts";

export const invalidRequest = -32600;
export const parseError = -32700;
const internalError = -32603;

export const thenClose = { Connection: "close" };
const retryLater = { "Retry-After": 30 };

export type Refusals = ReturnType<typeof createRefusals>;

/** Each does nothing if the client is gone, or already has a response. `idFor` returns the id of the request, once it has been read. */
export function createRefusals(
  protocol: Protocol,
  challenge: string,
  idFor: (response: OutgoingResponse) => string | number | null,
) {
  function refuse(response: OutgoingResponse, status: number, message: string, headers?: OutgoingHttpHeaders): void {
    const code = status >= 500 ? internalError : invalidRequest;
    sendJson(response, status, protocol.error(idFor(response), code, message), headers);
  }

  return {
    refuse,
    refuseBy(response: OutgoingResponse, { status, message, headers }: GateRefusal): void {
      refuse(response, status, message, headers);
    },
    refuseQuota(response: OutgoingResponse, { message, details, retryAfterMs }: QuotaError): void {
      sendJson(
        response,
        429,
        protocol.error(idFor(response), internalError, message, details),
        retryAfter(retryAfterMs),
      );
    },
    refuseStranger(response: OutgoingResponse): void {
      refuse(response, 401, "authentication required, or the credentials are not valid", {
        "WWW-Authenticate": challenge,
      });
    },
    refuseLate(response: OutgoingResponse): void {
      refuse(response, 503, "this server is shutting down; try again soon", { ...thenClose, "Retry-After": 5 });
    },
    refuseStream(response: OutgoingResponse): void {
      refuse(response, 503, "too many streams are open; try again later", retryLater);
    },
    refuseSession(response: OutgoingResponse): void {
      refuse(response, 503, "too many sessions are open; try again later", retryLater);
    },
  };
}
