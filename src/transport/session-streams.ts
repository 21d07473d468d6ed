/** The streams of one session: routes events, queues them, and replays them to readers that reconnect. */
import type { OutgoingHttpHeaders } from "node:http";
import type { WireBytes } from "../protocol/protocol.ts";
import type { BytePool } from "./byte-pool.ts";
import type { EventLogLimits } from "./event-log.ts";
import { createEventLog } from "./event-log.ts";
import type { EventStream, EventStreams } from "./event-stream.ts";
import { sendJson } from "./send-json.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

/** The events of one posted request. */
export interface AnswerStream {
  /** If the reader is gone, the event is only stored. */
  send(wire: WireBytes): void | Promise<void>;
  /** Aborted when the reader has disconnected and not come back in time. */
  lost(): AbortSignal;
  end(): void;
}

export interface SessionStreams {
  /**
   * Sends a notification outside any request to the standing stream that was opened last, and to no other. While there is none, or
   * it is slow, the promise stays pending.
   */
  send(wire: WireBytes): void | Promise<void>;
  /** Turns the response to a posted request into a stream. */
  answer(response: OutgoingResponse, headers?: OutgoingHttpHeaders): AnswerStream;
  /**
   * A GET: a new standing stream, or the rest of the stream that the event id names; 204 if that has ended and nothing is left. A few older standing streams stay open without
   * events; beyond those, the oldest ends.
   */
  listen(response: OutgoingResponse, lastEventId?: string): void;
  /** Number of attached connections. */
  readonly size: number;
  /** Whether a standing stream is open. */
  readonly isHeard: boolean;
  /** Whether an event id is absent or was issued here. */
  isFromHere(lastEventId: string | undefined): boolean;
  /** Ends all streams, and drops stored events. */
  close(): void;
}

interface SessionStreamsOptions {
  readonly streams: EventStreams;
  readonly log: EventLogLimits;
  /** Memory limit of all sessions. */
  readonly pool: BytePool;
  /** Reconnection delay, if streams open with an event id (so that they can be replayed from the start). */
  readonly retryMs: () => number | undefined;
  /** Time for a disconnected reader to come back, before its stream is lost. */
  readonly returnMs: number;
  /** A connection was opened or closed. */
  readonly touched: () => void;
  /** Begins event ids, if several instances issue some for the same session. Letters and digits. */
  readonly tag?: string | undefined;
}

interface Stream {
  readonly id: string;
  readonly standing: boolean;
  /** The number of its newest event. */
  newest: number;
  /** Number of its events in the log. */
  stored: number;
  over: boolean;
  connection?: EventStream;
  /** Runs while the reader of a response is away. */
  awayTimer?: NodeJS.Timeout;
  lost?: AbortController;
}

const maxStanding = 4;

export function createSessionStreams({
  streams,
  log: limits,
  pool,
  retryMs,
  returnMs,
  touched,
  tag,
}: SessionStreamsOptions): SessionStreams {
  const byId = new Map<string, Stream>();
  const log = createEventLog<Stream>(limits, pool, (stream) => {
    stream.stored--;
    forget(stream);
  });
  /** Attached standing streams; the last one receives events. */
  const standing: Stream[] = [];
  /** One entry per sender: each waits for its event before it sends another. */
  const waiting = new Set<{ readonly wire: WireBytes; readonly sent: () => void }>();
  const prefix = tag === undefined ? "" : `${tag}.`;
  let count = 0;
  let size = 0;
  let closed = false;

  function create(isStanding: boolean): Stream {
    const id = `${prefix}${(++count).toString(36)}`;
    const stream: Stream = { id, standing: isStanding, newest: 0, stored: 0, over: false };
    byId.set(stream.id, stream);
    return stream;
  }

  /** Removes a stream that nobody reads, writes, or could replay. */
  function forget(stream: Stream): void {
    const written = !stream.standing && !stream.over;
    if (stream.stored === 0 && stream.connection === undefined && !written) byId.delete(stream.id);
  }

  function attach(stream: Stream, response: OutgoingResponse, headers: OutgoingHttpHeaders, greet: boolean): void {
    detach(stream)?.end();
    clearTimeout(stream.awayTimer);
    const retry = greet ? retryMs() : undefined;
    size++;
    const connection = streams.open(response, {
      headers,
      greeting: retry === undefined ? "" : `id: ${stream.id}-0\nretry: ${retry}\ndata:\n\n`,
      drained: flush,
      closed() {
        size--;
        if (stream.connection === connection) {
          detach(stream);
          if (!stream.standing && !stream.over && !closed)
            stream.awayTimer = setTimeout(lose, returnMs, stream).unref();
        }
        forget(stream);
        touched();
        flush();
      },
    });
    stream.connection = connection;
    if (stream.standing) standing.push(stream);
  }

  function detach(stream: Stream): EventStream | undefined {
    const { connection } = stream;
    stream.connection = undefined;
    const at = standing.indexOf(stream);
    if (at !== -1) standing.splice(at, 1);
    return connection;
  }

  function lose(stream: Stream): void {
    (stream.lost ??= new AbortController()).abort();
  }

  function emit(stream: Stream, wire: WireBytes): void | Promise<void> {
    const number = ++stream.newest;
    stream.stored++;
    log.append({ stream, number, wire });
    return stream.connection?.send(headOf(stream, number), wire);
  }

  function flush(): void {
    for (const next of waiting) {
      const stream = standing.at(-1);
      if (stream?.connection === undefined || stream.connection.blocked) return;
      waiting.delete(next);
      const sending = emit(stream, next.wire);
      if (sending) void sending.then(next.sent);
      else next.sent();
    }
  }

  function catchUp(stream: Stream, number: number): void {
    for (const event of log.after(stream, number))
      void stream.connection?.send(headOf(stream, event.number), event.wire);
    if (stream.over) stream.connection?.end();
  }

  return {
    send(wire) {
      if (closed) return;
      const stream = standing.at(-1);
      if (stream?.connection && !stream.connection.blocked && waiting.size === 0) return emit(stream, wire);
      return new Promise((sent) => waiting.add({ wire, sent }));
    },
    answer(response, headers = {}) {
      const stream = create(false);
      attach(stream, response, headers, true);
      return {
        send: (wire) => (closed ? undefined : emit(stream, wire)),
        lost() {
          // A reader that came back late may leave again.
          if (stream.connection && stream.lost?.signal.aborted) stream.lost = undefined;
          return (stream.lost ??= new AbortController()).signal;
        },
        end() {
          stream.over = true;
          clearTimeout(stream.awayTimer);
          stream.connection?.end();
          forget(stream);
        },
      };
    },
    listen(response, lastEventId) {
      const last = parseEventId(lastEventId);
      const known = last && byId.get(last.stream);
      if (known) {
        // A client that got no result, because of an error or its own cancellation, would reconnect for ever.
        if (known.over && log.after(known, last.number).length === 0) return sendJson(response, 204);
        attach(known, response, {}, false);
        catchUp(known, last.number);
      } else {
        attach(create(true), response, {}, true);
      }
      const oldest = standing.length > maxStanding ? standing[0] : undefined;
      if (oldest) detach(oldest)?.end();
      flush();
    },
    get size() {
      return size;
    },
    get isHeard() {
      return standing.length > 0;
    },
    isFromHere: (lastEventId) => lastEventId === undefined || lastEventId.startsWith(prefix),
    close() {
      closed = true;
      for (const stream of byId.values()) stream.connection?.end();
      log.clear();
      byId.clear();
      for (const { sent } of waiting) sent();
      waiting.clear();
    },
  };
}

function headOf(stream: Stream, number: number): string {
  return `id: ${stream.id}-${number}\ndata: `;
}

function parseEventId(id: string | undefined): { stream: string; number: number } | undefined {
  if (id === undefined || id.length > 32) return undefined;
  const [stream = "", digits = ""] = id.split("-", 2);
  const number = Number(digits);
  return Number.isSafeInteger(number) && id === `${stream}-${number}` ? { stream, number } : undefined;
}
