/** Requests from this server to the client of a session: sends them, and matches the client's responses. */
import { createHmac } from "node:crypto";
import type { ZodType } from "zod";
import { cancelled, lastingFailure, quote, ResourceError, unavailable } from "../errors.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { InputRequest } from "./input-required.ts";
import { type Id, type JsonRpcMessage, member, notificationWire, requestWire } from "./message.ts";
import type { Responder } from "./respond.ts";

/** How long the client may take to respond: a person may have to decide. */
const waitMinutes = 10;

/** Maximum number of requests to one client without a response. Below the number of requests that any transport lets run. */
const maxPending = 16;

/** Maximum size of all results of one round, as JSON. */
const maxResultLength = 4 * 1024 * 1024;

/** No id that is issued here is longer. */
const maxIdLength = 100;

type ClientResponse = Extract<JsonRpcMessage, { kind: "response" }>;

/** The client's request that is being handled. */
interface Origin {
  readonly reply: Responder;
  readonly signal: AbortSignal;
}

interface ServerRequests {
  /**
   * Sends requests on the stream of the client's request that is being handled, and resolves with the results under the same keys. Rejects
   * if one of them fails, at the time limit, or when the client has left or cancelled; the client is notified that the others are cancelled.
   */
  send(requests: Readonly<Record<string, InputRequest>>, origin: Origin): Promise<Record<string, unknown>>;
  /** Ignores a response to no pending request: it is late, or belongs to another session. */
  receive(response: ClientResponse): void;
  /** Whether this is the response to a pending request. */
  isExpected(response: ClientResponse): boolean;
  /** Whether a request with this id was sent with this secret, here or on another instance. */
  isIssued(id: Id | null): boolean;
}

/** `secret`: of the session, which all its instances have. Ids are signed with it, so that a client cannot invent one. */
export function createServerRequests(secret: string): ServerRequests {
  const pending = new Map<Id, (response: ClientResponse) => void>();

  return {
    async send(requests, { reply, signal }) {
      // Loaded on demand: zod takes as long to load as the rest of a server.
      const { clientResults } = await import("./client-results.ts");
      const keys = Object.keys(requests);
      const lost = reply.lost?.();
      return new Promise((resolve, reject) => {
        if (pending.size + keys.length > maxPending)
          throw new ResourceError("busy", `at most ${maxPending} requests to the client may wait for a response`);
        if (signal.aborted) throw cancelled();
        if (lost?.aborted) throw disconnected();
        const own = new Set<Id>();
        const results = new Map<string, unknown>();
        let length = 0;

        const timer = setTimeout(() => giveUp(late(requests)), waitMinutes * 60_000);
        // Synchronous: after a cancellation, nothing can be sent for the request that is being handled.
        const cancel = (): void => giveUp(cancelled());
        const leave = (): void => giveUp(disconnected());
        signal.addEventListener("abort", cancel);
        lost?.addEventListener("abort", leave);

        function finish(): void {
          clearTimeout(timer);
          signal.removeEventListener("abort", cancel);
          lost?.removeEventListener("abort", leave);
        }

        function giveUp(cause: Error): void {
          finish();
          for (const requestId of own) {
            pending.delete(requestId);
            void reply.notify(notificationWire("notifications/cancelled", { requestId, reason: cause.message }));
          }
          reject(cause);
        }

        function take(id: Id, key: string, { method }: InputRequest, response: ClientResponse): void {
          pending.delete(id);
          own.delete(id);
          try {
            const result = resultOf(method, response, clientResults[method]);
            length += JSON.stringify(result).length;
            if (length > maxResultLength) throw tooLarge();
            results.set(key, result);
          } catch (cause) {
            return giveUp(cause as Error);
          }
          if (own.size > 0) return;
          finish();
          resolve(Object.fromEntries(keys.map((each) => [each, results.get(each)])));
        }

        for (const [key, request] of Object.entries(requests)) {
          const id = signed(crypto.randomUUID(), secret);
          own.add(id);
          pending.set(id, (response) => take(id, key, request, response));
          void reply.notify(requestWire(id, request.method, request.params));
        }
      });
    },

    receive(response) {
      if (response.id !== null) pending.get(response.id)?.(response);
    },
    isExpected: ({ id }) => id !== null && pending.has(id),
    isIssued: (id) =>
      typeof id === "string" &&
      id.length <= maxIdLength &&
      constantTimeEqual(id, signed(id.split(".")[0] ?? "", secret)),
  };
}

function signed(nonce: string, secret: string): string {
  return `${nonce}.${createHmac("sha256", secret).update(nonce).digest("base64url")}`;
}

function resultOf(method: InputRequest["method"], { result, error }: ClientResponse, schema: ZodType): unknown {
  // Some clients send null instead of no error.
  if (error !== undefined && error !== null) {
    const message = member(error, "message");
    const reason = typeof message === "string" ? `: ${quote(message)}` : "";
    throw lastingFailure(`the client answered ${method} with an error${reason}`);
  }
  const parsed = schema.safeParse(result);
  if (!parsed.success) throw lastingFailure(`the client answered ${method} with a malformed result`);
  return parsed.data;
}

function late(requests: Readonly<Record<string, InputRequest>>): ResourceError {
  const methods = [...new Set(Object.values(requests).map(({ method }) => method))].join(", ");
  return unavailable(`the client did not answer ${methods} within ${waitMinutes} minutes`);
}

function disconnected(): ResourceError {
  return unavailable("the client disconnected before it answered");
}

function tooLarge(): ResourceError {
  return new ResourceError("too-large", `the client's answers may have ${maxResultLength} characters at most`);
}
