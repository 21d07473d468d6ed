/** Events of one session's streams, stored for a while so that a disconnected reader can catch up. */
import type { WireBytes } from "../protocol/protocol.ts";
import type { BytePool } from "./byte-pool.ts";
import { byteLength } from "./wire-bytes.ts";

interface LoggedEvent<Stream> {
  readonly stream: Stream;
  /** Counts from 1 per stream. */
  readonly number: number;
  readonly wire: WireBytes;
}

interface EventLog<Stream> {
  append(event: LoggedEvent<Stream>): void;
  /** Stored events of one stream after this number, in order. */
  after(stream: Stream, number: number): readonly LoggedEvent<Stream>[];
  clear(): void;
}

export interface EventLogLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** `pool` is shared by all logs; `dropped` is called for each event that is removed. */
export function createEventLog<Stream>(
  { maxEvents, maxBytes }: EventLogLimits,
  pool: BytePool,
  dropped: (stream: Stream) => void,
): EventLog<Stream> {
  const share = pool.open(() => drop(1));
  let events: (LoggedEvent<Stream> & { readonly bytes: number })[] = [];
  let held = 0;

  function drop(count: number): void {
    for (const { stream, bytes } of events.splice(0, count)) {
      held -= bytes;
      dropped(stream);
    }
    share.resize(held);
  }

  return {
    append({ stream, number, wire }) {
      const bytes = byteLength(wire);
      // An event that does not fit would only evict all others.
      if (bytes > maxBytes) {
        dropped(stream);
        return;
      }
      events.push({ stream, number, wire, bytes });
      held += bytes;
      while (events.length > maxEvents || held > maxBytes) drop(1);
      share.resize(held);
    },
    after: (stream, number) => events.filter((event) => event.stream === stream && event.number > number),
    clear() {
      drop(events.length);
      events = [];
    },
  };
}
