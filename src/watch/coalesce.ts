/** Many changes in, few out: what happens to one path in a short while is announced as one change, or as none. */
import type { SourceChange, Tools } from "../source.ts";

export interface CoalesceOptions {
  /** How long a path must be left alone before its change is announced. */
  readonly quietMs?: number;
  /** The longest a change is held under continuous writing, and the shortest time between two announcements of one path. */
  readonly maxHoldMs?: number;
  /** With more paths than this waiting, everything waiting becomes one "lost". */
  readonly maxPending?: number;
}

export interface Coalescer {
  hear(change: SourceChange): void;
  /** How many paths have a change that is not announced yet. */
  readonly pending: number;
  /**
   * Someone begins to listen now. What is heard from here on is not merged away with what was heard before:
   * to the newcomer, something that appeared earlier and goes later is gone.
   */
  newcomer(): void;
  /** Nothing is announced afterwards. */
  close(): void;
}

type Kind = Exclude<SourceChange["kind"], "lost">;

interface Pending {
  kind: Kind;
  era: number;
  readonly firstMs: number;
  lastMs: number;
}

/**
 * A change to a path is announced after `quietMs` of quiet there, held at most `maxHoldMs`, and at most once per `maxHoldMs`.
 * Appeared and gone is nothing, gone and appeared is changed, so that saving through a temporary file is one change of its
 * target. "lost" swallows what waits and passes at once. One timer serves all paths, and none runs while nothing waits.
 */
export function createCoalescer(
  announce: (change: SourceChange) => void,
  tools: Pick<Tools, "monotonicMs" | "wait">,
  { quietMs = 30, maxHoldMs = 1000, maxPending = 50_000 }: CoalesceOptions = {},
): Coalescer {
  const closing = new AbortController();
  const pending = new Map<string, Pending>();
  /** When a path was last announced; kept only as long as it delays the next announcement. */
  const announcedMs = new Map<string, number>();
  let era = 0;
  let ticking = false;

  function hear(change: SourceChange): void {
    if (closing.signal.aborted) return;
    if (change.kind === "lost") {
      lose();
      return;
    }
    const { kind, path } = change;
    const nowMs = tools.monotonicMs();
    const before = pending.get(path);
    if (before === undefined) {
      if (pending.size >= maxPending) {
        lose();
        return;
      }
      pending.set(path, { kind, era, firstMs: nowMs, lastMs: nowMs });
    } else {
      const merged = merge(before.kind, kind);
      const undone = merged === undefined || (merged === "changed" && before.kind === "gone");
      if (undone && before.era !== era) {
        tell(path, before.kind, nowMs);
        pending.set(path, { kind, era, firstMs: nowMs, lastMs: nowMs });
      } else if (merged === undefined) {
        pending.delete(path);
      } else {
        before.kind = merged;
        before.era = era;
        before.lastMs = nowMs;
      }
    }
    if (!ticking && pending.size > 0) sleep(quietMs);
  }

  function lose(): void {
    pending.clear();
    announce({ kind: "lost" });
  }

  function tell(path: string, kind: Kind, nowMs: number): void {
    if (announcedMs.size >= maxPending) announcedMs.clear();
    announcedMs.set(path, nowMs);
    announce({ kind, path });
  }

  function sleep(ms: number): void {
    ticking = true;
    tools.wait(ms, closing.signal).then(tick, () => {
      ticking = false;
    });
  }

  function tick(): void {
    ticking = false;
    if (closing.signal.aborted) return;
    const nowMs = tools.monotonicMs();
    for (const [path, atMs] of announcedMs) if (atMs + maxHoldMs <= nowMs) announcedMs.delete(path);
    // A path that is first heard of while asleep is due no earlier than `quietMs` later, so a sleep of that length is never too long.
    let restMs = quietMs;
    for (const [path, { kind, firstMs, lastMs }] of pending) {
      const settledMs = Math.min(lastMs + quietMs, firstMs + maxHoldMs);
      const dueMs = Math.max(settledMs, (announcedMs.get(path) ?? -Infinity) + maxHoldMs);
      if (dueMs > nowMs) {
        restMs = Math.min(restMs, dueMs - nowMs);
      } else {
        pending.delete(path);
        tell(path, kind, nowMs);
      }
    }
    if (pending.size > 0 && !ticking) sleep(restMs);
  }

  return {
    hear,
    get pending() {
      return pending.size;
    },
    newcomer() {
      era += 1;
    },
    close() {
      closing.abort();
      pending.clear();
      announcedMs.clear();
    },
  };
}

/** What two changes of one path are together; nothing, if the second undoes the first. */
function merge(first: Kind, second: Kind): Kind | undefined {
  switch (first) {
    case "appeared":
      return second === "gone" ? undefined : "appeared";
    case "gone":
      return second === "gone" ? "gone" : "changed";
    case "changed":
      return second;
  }
}
