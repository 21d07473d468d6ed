/** One computation per question at a time, across all processes: one caller computes, the others wait for its result. */
import type { Call } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import type { AnalysisQuestion } from "./question.ts";
import type { StoredResult, ComputationLease, AnalysisStore } from "./store.ts";

export type AnalysisLookup =
  /** `isShared`: another caller computed it while this one waited. */
  | { readonly status: "hit"; readonly kept: StoredResult; readonly isShared: boolean }
  | { readonly status: "stale"; readonly kept: StoredResult; readonly reason: string }
  | { readonly status: "compute"; readonly lease: ComputationLease }
  /** Another caller computes, and has not finished within the wait. */
  | { readonly status: "wait"; readonly leftMs: number }
  | { readonly status: "miss" };

interface ComputationRequest {
  readonly key: Buffer;
  readonly question: AnalysisQuestion;
  /** Whether the caller will compute a missing result. */
  readonly claims: boolean;
  /** Whether to return an expired result immediately rather than none. */
  readonly takesStale: boolean;
  readonly waitMs: number;
}

export interface Computations {
  find(request: ComputationRequest, call: Call): Promise<AnalysisLookup>;
  /** A result was stored, or a computation failed: waiting callers check immediately; all of them if the key is unknown. */
  settled(key?: string): void;
}

/** How often waiting callers check for writes of other processes; less often if the store reports writes. */
const firstLookMs = 50;
const longestLookMs = { looking: 400, told: 2000 };
/** More callers than this do not wait; they are told to try again. */
const maxWaiting = 10_000;

export function createComputations(
  store: Pick<AnalysisStore, "look" | "claim" | "listen">,
  { now, monotonicMs, wait }: Pick<Runtime, "now" | "monotonicMs" | "wait">,
): Computations {
  const longestMs = longestLookMs[store.listen ? "told" : "looking"];
  const waiting = new Map<string, Set<() => void>>();
  let waitingCount = 0;
  let landings = 0;

  /** Resolves when a computation here has ended, or when it is time to check again. */
  async function pause(key: string, ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    const group = waiting.get(key) ?? new Set();
    waiting.set(key, group.add(wake));
    try {
      await wait(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
      signal.throwIfAborted();
    } finally {
      group.delete(wake);
      if (group.size === 0) waiting.delete(key);
    }
  }

  async function find(request: ComputationRequest, { signal }: Call): Promise<AnalysisLookup> {
    const { key, question, claims, takesStale, waitMs } = request;
    const name = key.toString("hex");
    const begunMs = monotonicMs();
    for (let lookMs = firstLookMs, isFirst = true; ; lookMs = Math.min(longestMs, lookMs * 2), isFirst = false) {
      const seen = landings;
      const { kept, lease } = await store.look(key);
      if (kept && kept.expires > now()) return { status: "hit", kept, isShared: !isFirst };
      const isHeld = lease !== undefined && lease.failedMsAgo === undefined && lease.leftMs > 0;
      if (kept && takesStale) return { status: "stale", kept, reason: "it has expired" };
      // After a failed computation, waiting callers get the old result instead of the next failure.
      if (kept && !isFirst && lease?.failedMsAgo !== undefined && lease.failedMsAgo <= monotonicMs() - begunMs)
        return { status: "stale", kept, reason: lease.reason ?? "computing it again failed" };
      if (!isHeld) {
        if (!claims) return { status: "miss" };
        const { taken, kept: fresh } = await store.claim(key, question);
        if (taken) return { status: "compute", lease: taken };
        if (fresh) return { status: "hit", kept: fresh, isShared: !isFirst };
        continue;
      }
      const leftMs = begunMs + waitMs - monotonicMs();
      if (leftMs <= 0 || waitingCount >= maxWaiting) return { status: "wait", leftMs: lease.leftMs };
      // A result may have been stored in the meantime.
      if (landings !== seen) continue;
      waitingCount += 1;
      try {
        await pause(name, Math.min(lookMs, leftMs, lease.leftMs), signal);
      } finally {
        waitingCount -= 1;
      }
    }
  }

  return {
    find,
    settled(key) {
      landings += 1;
      const groups = key === undefined ? [...waiting.values()] : [waiting.get(key) ?? []];
      for (const wake of groups.flatMap((group) => [...group])) wake();
    },
  };
}
