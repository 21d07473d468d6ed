/** A response that stays open and carries events, and one keep-alive timer for all of them. */
import type { OutgoingHttpHeaders } from "node:http";
import type { WireBytes } from "../protocol/protocol.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";
import { idHeaderOf, stallMs as defaultStallMs, unkept } from "./send-json.ts";
import { writeWire } from "./wire-bytes.ts";

export interface EventStream {
  /** Writes one event; `head` ends in "data: ". A promise means: wait, the reader is slow. It also resolves if the reader is gone. */
  send(head: string, wire: WireBytes): void | Promise<void>;
  /** Whether the last event is still unread. */
  readonly blocked: boolean;
  /** Ends the stream. */
  end(): void;
}

export interface EventStreamAsk {
  readonly headers?: OutgoingHttpHeaders;
  /** Written immediately. Even an empty one opens the stream for the reader; without it, the first event does. */
  readonly greeting?: string;
  /** The reader has caught up. */
  drained?(): void;
  /** The reader is gone, or the stream has ended. Called once. */
  closed?(): void;
}

export interface EventStreams {
  open(response: OutgoingResponse, ask?: EventStreamAsk): EventStream;
  /** Number of open streams. */
  readonly size: number;
  /** Ends all streams and the timer. Readers that have not caught up have their own. */
  close(): void;
}

export interface EventStreamOptions {
  /** Interval of comments on a quiet stream; 0 sends none. */
  readonly keepAliveMs?: number;
  /** A reader that accepts nothing for this long is disconnected. */
  readonly stallMs?: number;
  /** Bytes that may wait for one slow reader before the writer must wait. */
  readonly highWaterBytes?: number;
}

interface StreamSettings extends EventStreamOptions {
  /** Releases the data of the request that opened a stream: it lives as long as its response. */
  readonly release?: (response: OutgoingResponse) => void;
}

const comment = ":\n\n";

interface Shared {
  /** Present until their last byte has been sent. */
  readonly streams: Map<OutgoingResponse, OpenStream>;
  /** Number of streams that have not ended. */
  open: number;
  readonly highWaterBytes: number;
  readonly stallMs: number;
}

/** A class, because thousands are open: methods are shared, and each object holds only its own state. */
class OpenStream implements EventStream {
  readonly #shared: Shared;
  readonly #response: OutgoingResponse;
  readonly #ask: EventStreamAsk;
  #waiting: PromiseWithResolvers<void> | undefined;
  #isOver = false;
  #isTimed = false;

  constructor(shared: Shared, response: OutgoingResponse, ask: EventStreamAsk) {
    this.#shared = shared;
    this.#response = response;
    this.#ask = ask;
    shared.open++;
  }

  send(head: string, wire: WireBytes): void | Promise<void> {
    if (this.#isOver) return;
    writeWire(this.#response, head, wire, "\n\n", () => this.#flushed());
    if (this.#response.writableLength <= this.#shared.highWaterBytes) return;
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  get blocked(): boolean {
    return this.#waiting !== undefined;
  }

  end(): void {
    if (this.#finish()) this.#response.end();
  }

  /** The response has closed. */
  close(): void {
    this.#finish();
    this.#release();
    this.#ask.closed?.();
  }

  /** Called periodically. */
  tend(isCommentDue: boolean): void {
    const response = this.#response;
    if (response.writableLength > 0) {
      // A socket timeout is enough, and idle streams need none.
      if (!this.#isTimed) response.setTimeout(this.#shared.stallMs);
      this.#isTimed = true;
      return;
    }
    if (this.#isTimed) response.setTimeout(0);
    this.#isTimed = false;
    if (isCommentDue && !this.#isOver) response.write(comment);
  }

  /** False if it had already ended. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#shared.open--;
    return true;
  }

  #release(): void {
    const released = this.#waiting;
    this.#waiting = undefined;
    released?.resolve();
  }

  #flushed(): void {
    if (this.#waiting === undefined || this.#response.writableLength > this.#shared.highWaterBytes) return;
    this.#release();
    this.#ask.drained?.();
  }
}

export function createEventStreams({
  keepAliveMs = 15_000,
  stallMs = defaultStallMs,
  highWaterBytes = 64 * 1024,
  release,
}: StreamSettings = {}): EventStreams {
  const streams = new Map<OutgoingResponse, OpenStream>();
  const shared: Shared = { streams, open: 0, highWaterBytes, stallMs };
  const periodMs = keepAliveMs > 0 ? Math.min(keepAliveMs, stallMs / 2) : stallMs / 2;
  const timer = setInterval(tend, periodMs).unref();
  let quietMs = 0;

  function tend(): void {
    quietMs += periodMs;
    const isCommentDue = keepAliveMs > 0 && quietMs >= keepAliveMs;
    if (isCommentDue) quietMs = 0;
    for (const stream of streams.values()) stream.tend(isCommentDue);
  }

  function onClose(this: OutgoingResponse): void {
    const stream = streams.get(this);
    streams.delete(this);
    stream?.close();
  }

  return {
    open(response, ask = {}) {
      const stream = new OpenStream(shared, response, ask);
      if (response.destroyed) {
        // Its "close" event may have been long ago.
        queueMicrotask(() => stream.close());
        return stream;
      }
      streams.set(response, stream);
      response.on("close", onClose).on("timeout", cutOff);
      release?.(response);
      response.writeHead(200, {
        ...ask.headers,
        ...unkept,
        ...idHeaderOf(response),
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
      });
      if (ask.greeting) response.write(ask.greeting);
      else if (ask.greeting === "") response.flushHeaders();
      return stream;
    },
    get size() {
      return shared.open;
    },
    close() {
      clearInterval(timer);
      for (const stream of streams.values()) {
        stream.end();
        stream.tend(false);
      }
    },
  };
}

function cutOff(this: OutgoingResponse): void {
  if (this.writableLength > 0) this.destroy();
}
