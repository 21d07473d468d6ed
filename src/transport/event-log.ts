/** What was sent on the streams of one session, kept for a while so that a reader who lost its connection can catch up. */
import type { Wire } from "../protocol/edge.ts";
import { byteLength } from "./wire-bytes.ts";

export interface LoggedEvent<Stream> {
  readonly stream: Stream;
  /** Counts from 1 on each stream. */
  readonly number: number;
  readonly wire: Wire;
}

export interface EventLog<Stream> {
  append(event: LoggedEvent<Stream>): void;
  /** Those of one stream that came after this number and are still kept, in order. */
  after(stream: Stream, number: number): readonly LoggedEvent<Stream>[];
  clear(): void;
}

export interface EventLogLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** How much all logs hold together. When that is too much, whoever appends gives up of its own. */
export interface SharedBytes {
  held: number;
  readonly max: number;
}

/** `dropped` hears of each event that is no longer kept. */
export function createEventLog<Stream>(
  { maxEvents, maxBytes }: EventLogLimits,
  shared: SharedBytes,
  dropped: (stream: Stream) => void,
): EventLog<Stream> {
  let events: (LoggedEvent<Stream> & { readonly bytes: number })[] = [];
  let held = 0;

  function drop(count: number): void {
    for (const { stream, bytes } of events.splice(0, count)) {
      held -= bytes;
      shared.held -= bytes;
      dropped(stream);
    }
  }

  return {
    append({ stream, number, wire }) {
      const bytes = byteLength(wire);
      // One that does not fit would only push out all the others.
      if (bytes > maxBytes) {
        dropped(stream);
        return;
      }
      events.push({ stream, number, wire, bytes });
      held += bytes;
      shared.held += bytes;
      while (events.length > maxEvents || held > maxBytes || (shared.held > shared.max && events.length > 0)) drop(1);
    },
    after: (stream, number) => events.filter((event) => event.stream === stream && event.number > number),
    clear() {
      drop(events.length);
      events = [];
    },
  };
}
