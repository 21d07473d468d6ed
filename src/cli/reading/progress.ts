/** How far long work has come: one line on standard error that is gone when the work is done. */
import { cutToWidth } from "../../lib/display-width.ts";
import type { Screen } from "../command.ts";

export interface Progress {
  /** Shows this instead of what was shown before, unless that was only just now. */
  show(text: string): void;
  /** Takes the line away, so that something else may be written. */
  clear(): void;
}

/** Work that is done sooner needs no line; nor is there a need to see it change more often. */
const quietMs = 250;
const everyMs = 100;

/** For where nobody looks. */
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
