/** Keeps the last lines of a log in memory, for the owner and for bug reports. */
import type { Writable } from "node:stream";

const maxLines = 200;
const maxLineLength = 1000;

export interface RecentLines extends Pick<Writable, "write"> {
  /** Oldest first. */
  lines(): readonly string[];
}

/** Passes everything on. One call is one line. */
export function createRecentLines(to: Pick<Writable, "write">): RecentLines {
  const kept: string[] = [];
  return {
    write(text: unknown) {
      kept.push(String(text).trimEnd().slice(0, maxLineLength));
      if (kept.length > maxLines) kept.shift();
      return to.write(text);
    },
    lines: () => kept,
  };
}
