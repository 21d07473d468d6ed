/** One question without memory over HTTP: answered as JSON, or as a stream once there is something to say on the way. */
import type { ServerResponse } from "node:http";
import type { Protocol, HeaderLookup, Peer, Reply, WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { sendJson } from "./send-json.ts";
import type { Client } from "./clients.ts";
import type { EventStream, EventStreamAsk, EventStreams } from "./event-stream.ts";
import type { InFlight } from "./in-flight.ts";

export interface Posted {
  readonly body: unknown;
  readonly headers: HeaderLookup;
  readonly accepts: Accepts;
  readonly caller: Caller;
  readonly client: Client;
}

/**
 * Who asks, and where the answer goes. A class, because a question is asked all the time, and a listen is held for ever: each object
 * literal with a getter would get a shape of its own, and each closure holds on to whatever stood beside it.
 */
class Exchange implements Peer, Reply, EventStreamAsk {
  readonly caller: Caller;
  readonly client: Client;
  readonly takesNotice: boolean;
  readonly #takesJson: boolean;
  readonly #response: ServerResponse;
  readonly #streams: EventStreams;
  /** Absent for a listen: it lasts until it is ended. */
  readonly #underWay: InFlight | undefined;
  #stream: EventStream | undefined;
  #controller: AbortController | undefined;
  #onClose: (() => void) | undefined;
  #isAnswered = false;

  constructor(
    { caller, client, accepts }: Posted,
    response: ServerResponse,
    streams: EventStreams,
    underWay?: InFlight,
  ) {
    this.caller = caller;
    this.client = client;
    this.takesNotice = accepts.events;
    this.#takesJson = accepts.json;
    this.#response = response;
    this.#streams = streams;
    this.#underWay = underWay;
    underWay?.begin();
  }

  /** Made when it is asked for: most questions are answered before anyone wants to know. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#response.destroyed) this.closed();
      else if (this.#stream === undefined) this.#response.on("close", (this.#onClose = () => this.closed()));
    }
    return this.#controller.signal;
  }

  notify(wire: WireBytes): void | Promise<void> {
    if (this.#isAnswered || !this.takesNotice) return;
    this.#stream ??= this.#open();
    return this.#stream.send("data: ", wire);
  }

  end(wire?: WireBytes, status = wire === undefined ? 202 : 200): void {
    if (!this.settle()) return;
    if (this.#stream === undefined && wire !== undefined && status === 200 && !this.#takesJson)
      this.#stream = this.#open();
    if (this.#stream === undefined) return sendJson(this.#response, status, wire);
    if (wire !== undefined) void this.#stream.send("data: ", wire);
    this.#stream.end();
  }

  /** The other side has got everything, or is gone. */
  closed(): void {
    if (!this.#isAnswered) this.#controller?.abort();
  }

  #open(): EventStream {
    // A stream says itself when it closes.
    if (this.#onClose) this.#response.off("close", this.#onClose);
    this.#onClose = undefined;
    return this.#streams.open(this.#response, this);
  }

  /** Nothing is said afterwards. False if nothing was to be said already. */
  settle(): boolean {
    if (this.#isAnswered) return false;
    this.#isAnswered = true;
    this.#underWay?.end();
    return true;
  }
}

/** Hanging up withdraws the question. */
export function exchange(
  edge: Protocol,
  streams: EventStreams,
  underWay: InFlight,
  posted: Posted,
  response: ServerResponse,
): void {
  const asked = new Exchange(posted, response, streams, edge.isListen?.(posted.body) ? undefined : underWay);
  try {
    edge.exchange(posted.body, posted.headers, asked, asked);
  } catch (cause) {
    asked.settle();
    throw cause;
  }
}
