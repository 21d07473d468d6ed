/** Divides long work into slices, so that messages are handled between them. */
import { monotonicMs } from "./monotonic-ms.ts";

const waiting: (() => void)[] = [];

/**
 * To be called often by long work. Returns undefined while the slice lasts, then a promise to wait for.
 * Of all work in this thread, one slice at a time runs between two rounds of I/O: ten long requests hold up others no longer than one does.
 */
export function createTimeSlices(sliceMs = 2): () => Promise<void> | undefined {
  let begunMs = monotonicMs();
  return () => {
    if (monotonicMs() - begunMs < sliceMs) return undefined;
    return nextSlice().then(() => {
      begunMs = monotonicMs();
    });
  };
}

/** Resolves after the event loop has handled its I/O, in the order of the calls. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeFirst);
  });
}

function resumeFirst(): void {
  waiting.shift()?.();
  // An immediate that is set by another one runs only after the next round of I/O.
  if (waiting.length > 0) setImmediate(resumeFirst);
}
