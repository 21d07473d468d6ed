/** One question without memory over HTTP: answered as JSON, or as a stream once there is something to say on the way. */
import type { ServerResponse } from "node:http";
import type { Edge, Headers, Peer, Reply } from "../protocol/edge.ts";
import type { Caller } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { answer } from "./answer.ts";
import type { EventStream, EventStreams } from "./event-stream.ts";
import type { UnderWay } from "./under-way.ts";

export interface Posted {
  readonly body: unknown;
  readonly headers: Headers;
  readonly accepts: Accepts;
  readonly caller: Caller;
}

/** Hanging up withdraws the question. */
export function exchange(
  edge: Edge,
  streams: EventStreams,
  underWay: UnderWay,
  { body, headers, accepts, caller }: Posted,
  response: ServerResponse,
): void {
  let controller: AbortController | undefined;
  let stream: EventStream | undefined;
  let over = false;

  function settle(): void {
    over = true;
    underWay.end();
  }

  const peer: Peer = {
    caller,
    // Made when asked for: most questions are answered before anyone wants to know.
    get signal() {
      if (controller === undefined) {
        const created = (controller = new AbortController());
        if (!over && response.destroyed) created.abort();
        else response.once("close", () => over || created.abort());
      }
      return controller.signal;
    },
  };

  const reply: Reply = {
    notify(wire) {
      if (over || !accepts.events) return;
      stream ??= streams.open(response);
      return stream.send("data: ", wire);
    },
    end(wire, status = wire === undefined ? 202 : 200) {
      if (over) return;
      settle();
      if (stream === undefined && wire !== undefined && status === 200 && !accepts.json)
        stream = streams.open(response);
      if (stream === undefined) return answer(response, status, wire);
      if (wire !== undefined) void stream.send("data: ", wire);
      stream.end();
    },
  };

  underWay.begin();
  try {
    edge.exchange(body, headers, peer, reply);
  } catch (cause) {
    if (!over) settle();
    throw cause;
  }
}
