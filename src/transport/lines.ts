/** Splits chunks into lines of limited length. */
import { createGrowingBuffer } from "./growing-buffer.ts";

export type InputLine = Buffer | "too-long";

const newline = 0x0a;
const nothing = Buffer.alloc(0);

export function createLines(maxBytes: number) {
  /** The beginning of an incomplete line. */
  const begun = createGrowingBuffer();
  let skipping = false;
  let chunk: Buffer = nothing;
  let at = 0;

  function finish(last: Buffer): InputLine {
    const tooLong = skipping || begun.length + last.length > maxBytes;
    skipping = false;
    if (!tooLong && begun.length === 0) return last;
    if (!tooLong) begun.append(last);
    const line = begun.take();
    return tooLong ? "too-long" : line;
  }

  return {
    /** Call only when `next` returns nothing. */
    push(next: Buffer): void {
      chunk = next;
      at = 0;
    },
    /** The next complete line, without its end; undefined if more data is needed. A line that is too long is reported once, and skipped. */
    next(): InputLine | undefined {
      const end = chunk.indexOf(newline, at);
      if (end !== -1) {
        const line = finish(chunk.subarray(at, end));
        at = end + 1;
        return line;
      }
      const last = chunk.subarray(at);
      chunk = nothing;
      at = 0;
      skipping ||= begun.length + last.length > maxBytes;
      if (skipping) begun.take();
      else begun.append(last);
      return undefined;
    },
    /** The text after the last line end. */
    rest: () => (skipping || begun.length > 0 ? finish(nothing) : undefined),
  };
}
