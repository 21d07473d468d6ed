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

/**
 * The signal is made when it is asked for: most questions are answered before anyone wants to know. A class, because each object
 * literal with a getter gets a shape of its own, and collecting those costs more than all the rest of a small question.
 */
class Asker implements Peer {
  readonly caller: Caller;
  readonly #response: ServerResponse;
  #controller: AbortController | undefined;
  answered = false;

  constructor(caller: Caller, response: ServerResponse) {
    this.caller = caller;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController());
      if (!this.answered && this.#response.destroyed) controller.abort();
      else this.#response.once("close", () => this.answered || controller.abort());
    }
    return this.#controller.signal;
  }
}

/** Hanging up withdraws the question. */
export function exchange(
  edge: Edge,
  streams: EventStreams,
  underWay: UnderWay,
  { body, headers, accepts, caller }: Posted,
  response: ServerResponse,
): void {
  const peer = new Asker(caller, response);
  let stream: EventStream | undefined;

  function settle(): void {
    peer.answered = true;
    underWay.end();
  }

  const reply: Reply = {
    takesNotice: accepts.events,
    notify(wire) {
      if (peer.answered || !accepts.events) return;
      stream ??= streams.open(response);
      return stream.send("data: ", wire);
    },
    end(wire, status = wire === undefined ? 202 : 200) {
      if (peer.answered) return;
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
    if (!peer.answered) settle();
    throw cause;
  }
}
