/** Events of one session's streams, stored for a while so that a disconnected reader can catch up. */
import type { WireBytes } from "../protocol/protocol.ts";
import type { BytePool } from "./byte-pool.ts";
import { byteLength } from "../lib/byte-length.ts";

interface LoggedEvent<Stream> {
  readonly stream: Stream;
  /** Counts from 1 per stream. */
  readonly number: number;
  readonly wire: WireBytes;
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
) {
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
    append({ stream, number, wire }: LoggedEvent<Stream>): void {
      const bytes = byteLength(wire);
      // An event that does not fit would only evict all others.
      if (bytes > maxBytes) return dropped(stream);
      events.push({ stream, number, wire, bytes });
      held += bytes;
      while (events.length > maxEvents || held > maxBytes) drop(1);
      share.resize(held);
    },
    /** Stored events of one stream after this number, in order. */
    after: (stream: Stream, number: number): readonly LoggedEvent<Stream>[] =>
      events.filter((event) => event.stream === stream && event.number > number),
    clear(): void {
      drop(events.length);
      events = [];
    },
  };
}
