/** Long work in slices: messages, timers and signals are handled in between. */
import { monotonicMs } from "./monotonic-ms.ts";

/** The returned function is called again and again during the work. When a slice is over it gives a promise to wait for. */
export function createPause(sliceMs = 5): () => Promise<void> | undefined {
  let begun = monotonicMs();
  return () => {
    if (monotonicMs() - begun < sliceMs) return undefined;
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        begun = monotonicMs();
        resolve();
      });
    });
  };
}
