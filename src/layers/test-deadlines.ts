/** Deadlines that expire when a test says so. */
import type { CallDeadline, Deadlines } from "./deadlines.ts";

export function deadlinesByHand() {
  const open = new Set<CallDeadline>();
  const setMs: number[] = [];
  const deadlines: Deadlines = {
    add(ms, missed) {
      const deadline = { dueMs: ms, missed };
      setMs.push(ms);
      open.add(deadline);
      return deadline;
    },
    met: (deadline) => void open.delete(deadline),
  };
  return {
    deadlines,
    setMs,
    pending: () => [...open],
    pass(due: readonly CallDeadline[] = [...open]) {
      for (const deadline of due) if (open.delete(deadline)) deadline.missed();
    },
  };
}
