/** Detects results that are written, expire or are dropped, in this process and in others. */
import { createWaker } from "../../lib/waker.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import type { ChangeDetector } from "../../backends/shared-watch.ts";
import type { AnalysisStore } from "./store.ts";

interface AnalysisWatchOptions {
  readonly store: Pick<AnalysisStore, "changes" | "expired">;
  readonly runtime: Pick<Runtime, "now" | "wait">;
  readonly pollMs: number;
  /** Calls back after each write of this process. */
  onWrite(wrote: () => void, signal: AbortSignal): void;
}

/** More changes than this are reported as one general change. */
const maxTold = 1000;

export function createAnalysisWatch({ store, runtime: { now, wait }, pollMs, onWrite }: AnalysisWatchOptions) {
  return async function detectChanges({ armed, tell, signal }: ChangeDetector): Promise<void> {
    const waker = createWaker(wait);
    onWrite(waker.wake, signal);
    let { last } = await store.changes();
    let seenMs = now();
    let { next } = await store.expired(seenMs, seenMs, 0);
    armed();
    while (!signal.aborted) {
      await waker.wait(Math.min(pollMs, Math.max(1, (next ?? Infinity) - now())), signal);
      if (signal.aborted) return;
      const toMs = now();
      const written = await store.changes(last);
      const expired = await store.expired(seenMs, toMs, maxTold + 1);
      const isChanged = written.last !== last || written.changes === "lost" || expired.ids.length > 0;
      ({ last } = written);
      ({ next } = expired);
      seenMs = toMs;
      if (!isChanged) continue;
      if (written.changes === "lost" || written.changes.length + expired.ids.length > maxTold) tell([{ kind: "lost" }]);
      else
        tell([
          ...written.changes.map(({ kind, id }): SourceChange => ({ kind, path: `results/${id}` })),
          ...expired.ids.map((id): SourceChange => ({ kind: "changed", path: `results/${id}` })),
          { kind: "changed", path: "statistics" },
        ]);
    }
  };
}
