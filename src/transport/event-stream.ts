/** A response that stays open and carries events, and the one timer that keeps all of them alive. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Wire } from "../protocol/edge.ts";
import { stallMs as defaultStallMs } from "./answer.ts";
import { writeWire } from "./wire-bytes.ts";

export interface EventStream {
  /** Writes one event; `head` ends in "data: ". A promise means: wait, the reader is slow. It resolves too when the reader is gone. */
  send(head: string, wire: Wire): void | Promise<void>;
  /** Whether the last event still waits for the reader. */
  readonly blocked: boolean;
  /** Nothing follows. */
  end(): void;
}

export interface EventStreamAsk {
  readonly headers?: OutgoingHttpHeaders;
  /** Written at once. Even an empty one shows the reader that the stream is open; without one, the first event does. */
  readonly greeting?: string;
  /** The reader has caught up. */
  readonly drained?: () => void;
  /** The reader is gone, or the stream has ended. Called once. */
  readonly closed?: () => void;
}

export interface EventStreams {
  open(response: ServerResponse, ask?: EventStreamAsk): EventStream;
  /** How many are open. */
  readonly size: number;
  /** Ends all that are open, and the timer. */
  close(): void;
}

export interface EventStreamOptions {
  /** Between two comments on a quiet stream; 0 sends none. */
  readonly keepAliveMs?: number;
  /** A reader that takes nothing for so long is cut off. */
  readonly stallMs?: number;
  /** How much may wait in the process for one slow reader before the writer is told to wait. */
  readonly highWaterBytes?: number;
}

const comment = ":\n\n";

export function createEventStreams({
  keepAliveMs = 15_000,
  stallMs = defaultStallMs,
  highWaterBytes = 64 * 1024,
}: EventStreamOptions = {}): EventStreams {
  const open = new Map<EventStream, ServerResponse>();
  const timer = keepAliveMs > 0 ? setInterval(keepAlive, keepAliveMs).unref() : undefined;

  function keepAlive(): void {
    for (const response of open.values()) if (response.writableLength === 0) response.write(comment);
  }

  return {
    open(response, { headers, greeting, drained, closed } = {}) {
      let waiting: PromiseWithResolvers<void> | undefined;

      const release = () => {
        const released = waiting;
        waiting = undefined;
        released?.resolve();
      };
      const flushed = () => {
        if (waiting === undefined || response.writableLength > highWaterBytes) return;
        release();
        drained?.();
      };

      const stream: EventStream = {
        send(head, wire) {
          if (!open.has(stream)) return;
          writeWire(response, head, wire, "\n\n", flushed);
          if (response.writableLength <= highWaterBytes) return;
          waiting ??= Promise.withResolvers();
          return waiting.promise;
        },
        get blocked() {
          return waiting !== undefined;
        },
        end() {
          if (open.delete(stream)) response.end();
        },
      };

      if (response.destroyed) {
        // Its "close" may have been long ago.
        if (closed) queueMicrotask(closed);
        return stream;
      }
      response.once("close", () => {
        open.delete(stream);
        release();
        closed?.();
      });
      open.set(stream, response);
      response.writeHead(200, {
        ...headers,
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-cache, no-transform",
        "X-Accel-Buffering": "no",
      });
      // A socket's timeout waits as long as the reader takes anything at all.
      response.setTimeout(stallMs, () => {
        if (response.writableLength > 0) response.destroy();
      });
      if (greeting) response.write(greeting);
      else if (greeting === "") response.flushHeaders();
      return stream;
    },
    get size() {
      return open.size;
    },
    close() {
      clearInterval(timer);
      for (const stream of open.keys()) stream.end();
    },
  };
}
