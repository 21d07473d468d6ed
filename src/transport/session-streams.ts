/** The streams of one session with a memory: which event goes where, what waits, and what can be caught up on. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { WireBytes } from "../protocol/protocol.ts";
import type { BytePool } from "./byte-pool.ts";
import type { EventLogLimits } from "./event-log.ts";
import { createEventLog } from "./event-log.ts";
import type { EventStream, EventStreams } from "./event-stream.ts";

/** The events that belong to one posted question. */
export interface AnswerStream {
  /** The reader may be gone: then the event is only kept. */
  send(wire: WireBytes): void | Promise<void>;
  end(): void;
}

export interface SessionStreams {
  /**
   * What no question asked for goes to the standing stream that was opened last, and to no other. While there is none, or it
   * is slow, the promise stays open and the event waits.
   */
  send(wire: WireBytes): void | Promise<void>;
  /** Turns the response to a posted question into a stream. */
  answer(response: ServerResponse, headers?: OutgoingHttpHeaders): AnswerStream;
  /**
   * A GET: a new standing stream, or the one that the event id names, from there on. Older standing streams stay open and quiet,
   * a few of them; the oldest beyond those ends.
   */
  listen(response: ServerResponse, lastEventId?: string): void;
  /** How many connections are attached. */
  readonly size: number;
  /** Ends all streams. Nothing waits or is kept afterwards. */
  close(): void;
}

export interface SessionStreamsOptions {
  readonly streams: EventStreams;
  readonly log: EventLogLimits;
  /** What all sessions keep is in it. */
  readonly pool: BytePool;
  /** Whether a stream opens with an event id, so that it can be caught up on from its very start, and how soon to come back. */
  readonly retryMs: () => number | undefined;
  /** A connection came or went. */
  readonly touched: () => void;
}

interface Stream {
  readonly id: string;
  readonly standing: boolean;
  /** The number of its newest event. */
  newest: number;
  /** How many of its events are in the log. */
  kept: number;
  over: boolean;
  connection?: EventStream | undefined;
}

const maxStanding = 4;

export function createSessionStreams({
  streams,
  log: limits,
  pool,
  retryMs,
  touched,
}: SessionStreamsOptions): SessionStreams {
  const byId = new Map<string, Stream>();
  const log = createEventLog<Stream>(limits, pool, (stream) => {
    stream.kept--;
    forget(stream);
  });
  /** Attached standing streams; the last one is spoken to. */
  const standing: Stream[] = [];
  /** As many as there are senders: each waits for its own before it sends another. */
  const waiting = new Set<{ readonly wire: WireBytes; readonly sent: () => void }>();
  let count = 0;
  let size = 0;
  let closed = false;

  function create(isStanding: boolean): Stream {
    const stream: Stream = { id: (++count).toString(36), standing: isStanding, newest: 0, kept: 0, over: false };
    byId.set(stream.id, stream);
    return stream;
  }

  /** A stream is known as long as someone reads it, writes it, or could catch up on it. */
  function forget(stream: Stream): void {
    const written = !stream.standing && !stream.over;
    if (stream.kept === 0 && stream.connection === undefined && !written) byId.delete(stream.id);
  }

  function attach(stream: Stream, response: ServerResponse, headers: OutgoingHttpHeaders, greet: boolean): void {
    detach(stream)?.end();
    const retry = greet ? retryMs() : undefined;
    size++;
    const connection = streams.open(response, {
      headers,
      greeting: retry === undefined ? "" : `id: ${stream.id}-0\nretry: ${retry}\ndata:\n\n`,
      drained: flush,
      closed() {
        size--;
        if (stream.connection === connection) detach(stream);
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

  function emit(stream: Stream, wire: WireBytes): void | Promise<void> {
    const number = ++stream.newest;
    stream.kept++;
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
        end() {
          stream.over = true;
          stream.connection?.end();
          forget(stream);
        },
      };
    },
    listen(response, lastEventId) {
      const last = parseEventId(lastEventId);
      const known = last && byId.get(last.stream);
      if (known) {
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
