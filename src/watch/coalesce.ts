/** Merges changes: several changes of one path within a short time are announced as one, or as none. */
import type { SourceChange, Runtime } from "../source.ts";

export interface CoalesceOptions {
  /** How long a path must be unchanged before its change is announced. */
  readonly quietMs?: number;
  /** The longest a change is held under continuous writing, and the shortest time between two announcements of one path. */
  readonly maxHoldMs?: number;
  /** If more paths than this wait, all of them become one "lost". */
  readonly maxPending?: number;
  /** As `SourceWatch.stateOf`. Called when a path is announced, and before it is announced again. */
  readonly stateOf?: (path: string) => number;
}

export interface Coalescer {
  hear(change: SourceChange): void;
  /** Number of paths with a change that is not announced yet. */
  readonly pending: number;
  /**
   * A new listener joins now. Later changes are not merged with earlier ones:
   * for the new listener, a path that appeared earlier and goes later is gone.
   */
  newcomer(): void;
  /** Nothing is announced afterwards. */
  close(): void;
}

type Kind = Exclude<SourceChange["kind"], "lost">;

interface Pending {
  kind: Kind;
  era: number;
  /** True if every merged change that appears or goes has `eachBelow`; the same for `isUnlisted`. */
  eachBelow: boolean;
  isUnlisted: boolean;
  readonly firstMs: number;
  lastMs: number;
}

/** The last announcement of a path, remembered for a while. */
interface Announced {
  readonly atMs: number;
  /** 0 if unknown. */
  readonly state: number;
}

/** Under load, the system may report one write this much later than the write before. */
const rememberMs = 10_000;
/** Other work gets its turn after this time. */
const sliceMs = 5;

/**
 * A change of a path is announced after `quietMs` without another, held for at most `maxHoldMs`, and at most once per `maxHoldMs`.
 * Appeared then gone is nothing, gone then appeared is changed, so saving through a temporary file is one change of its
 * target. A path in the same state as when it was last announced has not changed. "lost" replaces everything that waits and passes
 * immediately. One timer serves all paths, and none runs while nothing waits.
 */
export function createCoalescer(
  announce: (change: SourceChange) => void,
  runtime: Pick<Runtime, "monotonicMs" | "wait">,
  { quietMs = 30, maxHoldMs = 1000, maxPending = 50_000, stateOf = () => 0 }: CoalesceOptions = {},
): Coalescer {
  const closing = new AbortController();
  const pending = new Map<string, Pending>();
  /** The last announcement of each path, oldest first. */
  const announced = new Map<string, Announced>();
  let era = 0;
  let ticking = false;

  function hear(change: SourceChange): void {
    if (closing.signal.aborted) return;
    if (change.kind === "lost") {
      lose(change);
      return;
    }
    const { kind, path } = change;
    // A change of content says nothing about the list, nor about what is below.
    const eachBelow = kind === "changed" || "eachBelow" in change;
    const isUnlisted = kind === "changed" || "isUnlisted" in change;
    const nowMs = runtime.monotonicMs();
    const before = pending.get(path);
    if (before === undefined) {
      if (pending.size >= maxPending) {
        lose({ kind: "lost" });
        return;
      }
      pending.set(path, { kind, era, eachBelow, isUnlisted, firstMs: nowMs, lastMs: nowMs });
    } else {
      const merged = merge(before.kind, kind);
      const undone = merged === undefined || (merged === "changed" && before.kind === "gone");
      if (undone && before.era !== era) {
        tell(path, before, nowMs);
        pending.set(path, { kind, era, eachBelow, isUnlisted, firstMs: nowMs, lastMs: nowMs });
      } else if (merged === undefined) {
        pending.delete(path);
      } else {
        before.kind = merged;
        before.era = era;
        before.eachBelow &&= eachBelow;
        before.isUnlisted &&= isUnlisted;
        before.lastMs = nowMs;
      }
    }
    if (!ticking && pending.size > 0) sleep(quietMs);
  }

  function lose(lost: SourceChange): void {
    // They are forgotten, and may have changed the list.
    const isListed = [...pending.values()].some(({ kind, isUnlisted }) => kind !== "changed" && !isUnlisted);
    pending.clear();
    announce(isListed ? { kind: "lost" } : lost);
  }

  function tell(path: string, { kind, eachBelow, isUnlisted }: Pending, nowMs: number): void {
    // Read before the announcement: a later change is another change.
    const state = kind === "gone" ? 0 : stateOf(path);
    if (kind === "changed" && state !== 0 && announced.get(path)?.state === state) return;
    // An entry that appears or goes is a change of its directory as well: listeners get both at once, as one.
    const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const waiting = kind === "changed" ? undefined : pending.get(above);
    if (waiting?.kind === "changed") {
      pending.delete(above);
      tell(above, waiting, nowMs);
    }
    announced.delete(path);
    if (announced.size >= maxPending) announced.delete(announced.keys().next().value as string);
    announced.set(path, { atMs: nowMs, state });
    if (kind === "changed") announce({ kind, path });
    else announce({ kind, path, ...(eachBelow && { eachBelow }), ...(isUnlisted && { isUnlisted }) });
  }

  function sleep(ms: number): void {
    ticking = true;
    runtime.wait(ms, closing.signal).then(tick, () => {
      ticking = false;
    });
  }

  function tick(): void {
    ticking = false;
    if (closing.signal.aborted) return;
    const nowMs = runtime.monotonicMs();
    for (const [path, { atMs }] of announced) {
      if (atMs + Math.max(maxHoldMs, rememberMs) > nowMs) break;
      announced.delete(path);
    }
    // A path received during the sleep is due no earlier than `quietMs` later, so a sleep of that length is never too long.
    let restMs = quietMs;
    for (const [path, waiting] of pending) {
      const settledMs = Math.min(waiting.lastMs + quietMs, waiting.firstMs + maxHoldMs);
      const dueMs = Math.max(settledMs, (announced.get(path)?.atMs ?? -Infinity) + maxHoldMs);
      if (dueMs > nowMs) {
        restMs = Math.min(restMs, dueMs - nowMs);
      } else {
        pending.delete(path);
        tell(path, waiting, nowMs);
        if (runtime.monotonicMs() - nowMs > sliceMs) {
          restMs = 0;
          break;
        }
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
      announced.clear();
    },
  };
}

/** Merges two changes of one path; undefined if the second undoes the first. */
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
