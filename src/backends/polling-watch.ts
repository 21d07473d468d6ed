/** Detects changes by comparing what is there with what was there before, for a backend that sends no notifications. */
import { ResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SourceChange } from "../source.ts";
import { type ChangeDetector, createSharedWatch, type SharedWatch } from "./shared-watch.ts";

export interface PollingOptions {
  /**
   * Returns every resource of the list with its version, and every directory with a constant one (leave directories out if the source sets
   * `impliesDirectories`). Another version means that the content has changed.
   */
  readonly look: (signal: AbortSignal) => Promise<ReadonlyMap<string, string>>;
  readonly pollMs: number;
  readonly wait: Runtime["wait"];
}

/** Longest delay while the backend is unavailable, unless `pollMs` is longer. */
const longestMs = 300_000;

/**
 * Polls while someone watches. A backend that is unavailable for a while counts as unchanged, and is polled less often; the watches say so
 * with `failure`. Any other failure ends them.
 */
export function createPollingWatch({ look, pollMs, wait }: PollingOptions): SharedWatch {
  return createSharedWatch(async ({ armed, tell, setFailure, signal }: ChangeDetector) => {
    let before = await look(signal);
    armed();
    let waitMs = pollMs;
    while (!signal.aborted) {
      await wait(waitMs, signal);
      try {
        const now = await look(signal);
        const changes = [...differences(before, now)];
        if (changes.length > 0) tell(changes);
        before = now;
        waitMs = pollMs;
        setFailure(undefined);
      } catch (cause) {
        if (!(cause instanceof ResourceError && (cause.passing || cause.kind === "busy"))) throw cause;
        setFailure(cause);
        waitMs = Math.min(waitMs * 2, Math.max(pollMs, longestMs));
      }
    }
  });
}

function* differences(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Iterable<SourceChange> {
  for (const [path, version] of now) {
    const known = before.get(path);
    if (known === undefined) yield { kind: "appeared", path };
    else if (known !== version) yield { kind: "changed", path };
  }
  for (const path of before.keys()) if (!now.has(path)) yield { kind: "gone", path };
}
