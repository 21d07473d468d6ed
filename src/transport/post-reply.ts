/** Sends the response to a posted body: as JSON, or as a stream if something comes before it. */
import type { OutgoingHttpHeaders } from "node:http";
import type { Reply, WireBytes } from "../protocol/protocol.ts";
import type { Accepts } from "./accepts.ts";
import type { EventStreams } from "./event-stream.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { retryAfter, sendJson } from "./send-json.ts";
import type { AnswerStream, SessionStreams } from "./session-streams.ts";

export interface PostReply extends Reply {
  /** The session has ended: pending requests get an error. */
  cancel(): void;
}

export const sessionEnded = "this session has ended or does not exist; start another with initialize";

type Headers = () => OutgoingHttpHeaders | undefined;

interface PostReplyOptions {
  /** Whether the sender waits for a response. */
  readonly isRequest: boolean;
  readonly events: EventStreams;
  /** An error about what was posted. */
  refuse(code: number, message: string): WireBytes;
  whenOver(): void;
}

export function createPostReply(
  response: OutgoingResponse,
  accepts: Accepts,
  streams: SessionStreams,
  headers: Headers | undefined,
  { isRequest, events, refuse, whenOver }: PostReplyOptions,
): PostReply {
  let stream: AnswerStream | undefined;
  let over = false;

  function open(): AnswerStream | undefined {
    // A reader that left before the stream began cannot ask for it.
    if (over || !accepts.events || (stream === undefined && response.destroyed)) return undefined;
    return (stream ??= streams.answer(response, headers?.()));
  }

  function finish(status: number, wire?: WireBytes, retryAfterMs?: number): void {
    if (over) return;
    over = true;
    if (stream === undefined && wire !== undefined && status === 200 && !accepts.json)
      stream = streams.answer(response, headers?.());
    if (stream === undefined && wire === undefined && isRequest) endWithoutResponse();
    else if (stream === undefined)
      sendJson(response, status, wire, retryAfterMs === undefined ? headers?.() : retryAfter(retryAfterMs));
    else {
      if (wire !== undefined) void stream.send(wire);
      stream.end();
    }
    whenOver();
  }

  /** The status 202 is for notifications only. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server */
  function endWithoutResponse(): void {
    // Without an event id, which would make clients reconnect for the response.
    if (accepts.events) events.open(response, { headers: headers?.() }).end();
    else sendJson(response, 200, refuse(-32603, "cancelled"), headers?.());
  }

  return {
    takesNotice: accepts.events,
    lost: () => open()?.lost() ?? AbortSignal.abort(),
    notify: (wire) => open()?.send(wire),
    end: (wire, status = wire === undefined ? 202 : 200, retryAfterMs) => finish(status, wire, retryAfterMs),
    cancel: () => (stream === undefined ? finish(404, refuse(-32600, sessionEnded)) : finish(200)),
  };
}
