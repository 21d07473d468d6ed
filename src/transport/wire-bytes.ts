/** Writes the pieces of a message. */
import type { WireBytes } from "../protocol/protocol.ts";

interface Sink {
  write(chunk: string | Uint8Array, callback?: (error?: Error | null) => void): boolean;
  cork(): void;
  uncork(): void;
}

/** Below this, joining strings is cheaper than writing them one by one. */
const joinedLength = 16 * 1024;

/** The message as one string, if that is cheap; otherwise undefined. */
export function joinBytes(wire: WireBytes): string | undefined {
  let text = "";
  for (const piece of wire) {
    if (typeof piece !== "string" || text.length + piece.length > joinedLength) return undefined;
    text += piece;
  }
  return text;
}

/** Writes head, message and tail without interruption. `flushed` is called when all of it has left the process. */
export function writeWire(sink: Sink, head: string, wire: WireBytes, tail: string, flushed: () => void): void {
  const text = joinBytes(wire);
  if (text !== undefined) {
    sink.write(head + text + tail, flushed);
    return;
  }
  sink.cork();
  if (head !== "") sink.write(head);
  for (const piece of wire) sink.write(piece);
  sink.write(tail, flushed);
  sink.uncork();
}
