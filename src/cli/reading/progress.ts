/** Shows progress on one line of standard error, which is removed when the work is done. */
import { cutToWidth } from "../../lib/display-width.ts";
import type { Screen } from "../command.ts";

export interface Progress {
  /** Replaces the shown text, at a limited rate. */
  show(text: string): void;
  /** Removes the line, so that something else can be written. */
  clear(): void;
}

/** Delay before the first display, and between updates. */
const quietMs = 250;
const everyMs = 100;

/** Does nothing. */
export const noProgress: Progress = { show() {}, clear() {} };

export function createProgress(err: Screen, now: () => number = () => performance.now()): Progress {
  if (!err.isTTY) return noProgress;
  let nextAt: number | undefined;
  let isShown = false;
  return {
    show(text) {
      const at = now();
      nextAt ??= at + quietMs;
      if (at < nextAt) return;
      nextAt = at + everyMs;
      isShown = true;
      err.write(`\r\u001b[2K${cutToWidth(text, (err.columns ?? 80) - 1)}`);
    },
    clear() {
      if (!isShown) return;
      isShown = false;
      err.write("\r\u001b[2K");
    },
  };
}
