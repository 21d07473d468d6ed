/** One stateless request over HTTP: the response is JSON, or a stream if there are notifications before it. */
import type { Protocol, HeaderLookup, Peer, Reply, WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { Accepts } from "./accepts.ts";
import { retryAfter, sendJson } from "./send-json.ts";
import type { Client } from "./clients.ts";
import type { EventStream, EventStreamAsk, EventStreams } from "./event-stream.ts";
import type { InFlight } from "./in-flight.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

interface Posted {
  readonly body: unknown;
  readonly headers: HeaderLookup;
  readonly accepts: Accepts;
  readonly caller: Caller;
  readonly client: Client;
  readonly transport: object;
}

/**
 * The peer and the reply of one request. A class, because there are many requests and listens live long: each object literal with
 * a getter would get its own shape, and each closure keeps its whole scope alive.
 */
class Exchange implements Peer, Reply, EventStreamAsk {
  readonly caller: Caller;
  readonly client: Client;
  readonly transport: object;
  readonly takesNotice: boolean;
  readonly #takesJson: boolean;
  readonly #response: OutgoingResponse;
  readonly #streams: EventStreams;
  /** Absent for a listen, which lasts until it is ended. */
  readonly #underWay: InFlight | undefined;
  #stream: EventStream | undefined;
  #controller: AbortController | undefined;
  #onClose: (() => void) | undefined;
  #isAnswered = false;

  constructor(
    { caller, client, accepts, transport }: Posted,
    response: OutgoingResponse,
    streams: EventStreams,
    underWay?: InFlight,
  ) {
    this.caller = caller;
    this.client = client;
    this.transport = transport;
    this.takesNotice = accepts.events;
    this.#takesJson = accepts.json;
    this.#response = response;
    this.#streams = streams;
    this.#underWay = underWay;
    underWay?.begin();
  }

  /** Created on demand: most requests end before anyone needs it. */
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

  end(wire?: WireBytes, status = wire === undefined ? 202 : 200, retryAfterMs?: number): void {
    if (!this.settle()) return;
    if (this.#stream === undefined && wire !== undefined && status === 200 && !this.#takesJson)
      this.#stream = this.#open();
    if (this.#stream === undefined)
      return sendJson(this.#response, status, wire, retryAfterMs === undefined ? undefined : retryAfter(retryAfterMs));
    if (wire !== undefined) void this.#stream.send("data: ", wire);
    this.#stream.end();
  }

  /** The client has received everything, or is gone. */
  closed(): void {
    if (!this.#isAnswered) this.#controller?.abort();
  }

  #open(): EventStream {
    // A stream reports its end itself.
    if (this.#onClose) this.#response.off("close", this.#onClose);
    this.#onClose = undefined;
    return this.#streams.open(this.#response, this);
  }

  /** Prevents further output. False if already settled. */
  settle(): boolean {
    if (this.#isAnswered) return false;
    this.#isAnswered = true;
    this.#underWay?.end();
    return true;
  }
}

/** Disconnecting cancels the request. */
export function exchange(
  protocol: Protocol,
  streams: EventStreams,
  underWay: InFlight,
  posted: Posted,
  response: OutgoingResponse,
): void {
  const request = new Exchange(posted, response, streams, protocol.isListen?.(posted.body) ? undefined : underWay);
  try {
    protocol.exchange(posted.body, posted.headers, request, request);
  } catch (cause) {
    request.settle();
    throw cause;
  }
}
