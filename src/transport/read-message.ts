/** Reads what was posted, after every check that a body must pass. */
import { runInScope } from "../lib/request-scope.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import { type Accepts, isJson, parseAccept } from "./accepts.ts";
import type { RequestBody } from "./body.ts";
import type { HandlerOptions } from "./handler-options.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { parseMessageBytes } from "./parse-message.ts";
import { invalidRequest, parseError, type Refusals } from "./refusals.ts";
import { sendJson } from "./send-json.ts";

interface MessageReaderOptions extends Pick<HandlerOptions, "authorize"> {
  readonly maxBytes: number;
  readonly refusals: Refusals;
  /** Remembers the id of a request for its errors. */
  readonly noteId: (response: OutgoingResponse, id: string | number | null) => void;
  readonly isClosed: () => boolean;
  /** Logs the cause, and sends status 500. */
  readonly fail: (response: OutgoingResponse, cause: unknown) => void;
}

interface Sender {
  readonly caller: Caller;
  /** The input of an action was posted, and no message. */
  readonly actionPath?: string;
}

/** Returns a function that calls back only with a body that may be handled. Any other gets an error response. */
export function createMessageReader(
  protocol: Protocol,
  { authorize, maxBytes, refusals, noteId, isClosed, fail }: MessageReaderOptions,
) {
  const { refuse, refuseBy, refuseLate } = refusals;

  return (
    request: IncomingRequest,
    { caller, actionPath }: Sender,
    done: (body: unknown, accepts: Accepts) => void,
  ): void => {
    const { headers, response } = request;
    if (!isJson(headers["content-type"])) return refuse(response, 415, "send Content-Type: application/json");
    const encoding = headers["content-encoding"];
    if (!request.isBodyRead && encoding !== undefined && encoding !== "identity")
      return refuse(response, 415, "send the body without a Content-Encoding");
    const accepts = parseAccept(headers.accept);
    const isUnacceptable = !accepts.json && !accepts.events;
    const refuseAccept = () => refuse(response, 406, "accept application/json and text/event-stream");
    // A body that has been sent is read for its id.
    if (isUnacceptable && request.awaitsContinue) return refuseAccept();
    // The body arrives outside of the scope in which its request was received.
    request.readBody((bytes) => runInScope(request.scope, () => take(bytes)));

    function take(bytes: RequestBody): void {
      try {
        if (bytes === "busy")
          return refuse(response, 503, "too many request bodies are arriving; try again soon", { "Retry-After": 1 });
        if (bytes === "too-large")
          return request.sendTooLarge(
            protocol.error(null, invalidRequest, `a body may have ${maxBytes} bytes at most`),
          );
        if (bytes === "already-read") return fail(response, new Error(alreadyRead));
        const parsed = parseMessageBytes(bytes);
        if (!parsed.ok) return sendJson(response, 400, protocol.error(null, parseError, parsed.message));
        if (actionPath === undefined) noteId(response, protocol.requestIdOf(parsed.body));
        // A late body must not open a session that nobody would end.
        if (isClosed()) return refuseLate(response);
        if (isUnacceptable) return refuseAccept();
        const refusal = authorize?.(caller, parsed.body, actionPath);
        if (refusal instanceof Promise)
          refusal
            .then((late) => (late ? refuseBy(response, late) : response.destroyed || done(parsed.body, accepts)))
            .catch((cause: unknown) => fail(response, cause));
        else if (refusal) refuseBy(response, refusal);
        else done(parsed.body, accepts);
      } catch (cause) {
        fail(response, cause);
      }
    }
  };
}

const alreadyRead =
  "the body was read before the MCP handler and left no result; let the body parser store it as request.body, or pass it as { body }";
