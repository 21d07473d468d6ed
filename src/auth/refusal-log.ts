/** Tells the operator why tokens are refused: each reason at once, and then at most once a minute with a count. */
import type { Runtime } from "../runtime.ts";

interface RefusalLogOptions {
  readonly runtime: Pick<Runtime, "monotonicMs" | "log">;
  /** Called as often as a line is logged. */
  readonly report: (reason: string) => void;
}

const quietMs = 60_000;
const maxReasons = 100;

/** `reason` must contain nothing of a token. */
export function createRefusalLog({ runtime, report }: RefusalLogOptions): (reason: string) => void {
  const reasons = new Map<string, { loggedMs: number; since: number }>();
  return (reason) => {
    const known = reasons.get(reason);
    const nowMs = runtime.monotonicMs();
    if (known && nowMs - known.loggedMs < quietMs) {
      known.since += 1;
      return;
    }
    if (reasons.size >= maxReasons) reasons.clear();
    reasons.set(reason, { loggedMs: nowMs, since: 0 });
    runtime.log("warn", "a caller was refused", {
      reason,
      ...(known && known.since > 0 && { refusedSince: known.since }),
    });
    report(reason);
  };
}
