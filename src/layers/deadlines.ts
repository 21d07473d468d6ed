/** Many deadlines with one coarse timer: a deadline costs an entry in a set, not a timer. */
import { monotonicMs } from "../lib/monotonic-ms.ts";

export interface CallDeadline {
  readonly dueMs: number;
  missed(): void;
}

export interface Deadlines {
  /** `missed` is called no earlier than `ms` from now, and at most about one tick later. */
  add(ms: number, missed: () => void): CallDeadline;
  met(deadline: CallDeadline): void;
}

/** No timer runs while there is no deadline, and the timer does not keep the process alive. */
export function createDeadlines(tickMs = 100): Deadlines {
  const open = new Set<CallDeadline>();
  let ticking = false;

  function tick(): void {
    ticking = false;
    const nowMs = monotonicMs();
    for (const deadline of open) {
      if (deadline.dueMs > nowMs) continue;
      open.delete(deadline);
      deadline.missed();
    }
    if (open.size > 0) start();
  }

  function start(): void {
    if (ticking) return;
    ticking = true;
    setTimeout(tick, tickMs).unref();
  }

  return {
    add(ms, missed) {
      const deadline = { dueMs: monotonicMs() + ms, missed };
      open.add(deadline);
      start();
      return deadline;
    },
    met(deadline) {
      open.delete(deadline);
    },
  };
}
