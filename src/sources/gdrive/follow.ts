/** Reports changes of files: polls, and checks immediately when Drive notifies, as long as something watches. */
import { createWaker } from "../../lib/waker.ts";
import { ResourceError } from "../../errors.ts";
import { createSharedWatch, type ChangeDetector, type SharedWatch } from "../../backends/shared-watch.ts";
import type { SourceChange, Runtime } from "../../source.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerChange } from "./rows.ts";
import type { Sync } from "./sync.ts";

interface FollowingOptions {
  readonly sync: Sync;
  readonly ledger: Ledger;
  readonly runtime: Runtime;
  readonly pollMs: number;
  /** Calls back on each notification of Drive, until the signal ends. Absent without notifications. */
  readonly push?: ((call: () => void, signal: AbortSignal) => Promise<void>) | undefined;
}

/** More changes than this are reported as one general change. */
const maxChanges = 20_000;
const longestPollMs = 300_000;
const quietMs = 200;
/** Beyond this many queued changes, a reader gets "lost". */
const maxQueued = 50_000;

export function createFollowing({ sync, ledger, runtime, pollMs, push }: FollowingOptions): SharedWatch {
  async function detectChanges({ armed, tell, setFailure, signal }: ChangeDetector): Promise<void> {
    const waker = createWaker(runtime.wait);
    await sync.now(signal);
    let { seq, generation } = ledger;

    /** Other processes and callers write to the ledger, too. */
    function report(): void {
      const upTo = ledger.seq;
      const isSame = upTo >= seq && ledger.generation === generation;
      const changes = isSame ? ledger.changesSince(seq, maxChanges) : undefined;
      ({ generation } = ledger);
      seq = upTo;
      tell(changes ? changes.flatMap(toSourceChanges) : [{ kind: "lost" }]);
    }

    armed();
    const stop = new AbortController();
    const pushing = push?.(waker.wake, AbortSignal.any([signal, stop.signal]));
    try {
      for (let waitMs = pollMs; ;) {
        await waker.wait(waitMs, signal, quietMs);
        if (signal.aborted) return;
        try {
          await sync.now(signal);
          waitMs = pollMs;
          setFailure(undefined);
          report();
        } catch (cause) {
          // Drive is temporarily unavailable: changes made now are seen when it is back.
          if (signal.aborted || !(cause instanceof ResourceError) || !cause.passing) throw cause;
          setFailure(cause);
          waitMs = Math.min(waitMs * 2, Math.max(pollMs, longestPollMs));
        }
      }
    } finally {
      stop.abort();
      await pushing?.catch(() => undefined);
    }
  }

  return createSharedWatch(detectChanges, maxQueued);
}

/**
 * A file that is added, removed or renamed also changes its folder, for those who may see the file. This is reported as a change of a path
 * right below the folder, where nothing can be read. A shortcut is only an entry in a folder.
 */
function toSourceChanges({ id, kind, of, places }: LedgerChange): SourceChange[] {
  return [
    ...(of === "shortcut" ? [] : [{ kind, path: `${of}/${id}` }]),
    ...places.map(({ folder, kind: how }): SourceChange => ({
      kind: how,
      path: `folder/${folder}/${id}`,
      isUnlisted: true,
    })),
  ];
}
