/** Whether each mount responds: checked in the background, when someone asks and the last result is old. */
import { toResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Source, Runtime } from "../source.ts";
import type { ServedMount } from "./locate.ts";

export interface MountState {
  readonly state: "checking" | "ok" | "failing";
  readonly checkedAt?: string;
  readonly problem?: string;
}

export interface MountHealth {
  /** The last result for a mount. Calls no source. */
  stateOf(mount: ServedMount): MountState;
  /** Begins to check all mounts, unless that was done within `maxAgeMs`. A mount that is still being checked is left alone. */
  refresh(maxAgeMs: number): void;
  /** Calls back when the state of a mount has changed, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
}

interface MountHealthOptions {
  /** The current mounts. */
  mounts(): readonly ServedMount[];
  readonly runtime: Runtime;
}

const patienceMs = 5000;
const unchecked: MountState = { state: "checking" };

export function createMountHealth({ mounts, runtime }: MountHealthOptions): MountHealth {
  const states = new WeakMap<Source, MountState>();
  const running = new WeakSet<Source>();
  const hearers = new Set<() => void>();
  let checkedAtMs = -Infinity;

  async function check({ name, source }: ServedMount): Promise<void> {
    if (running.has(source)) return;
    running.add(source);
    const before = states.get(source);
    const checkedAt = new Date(runtime.now()).toISOString();
    let after: MountState = { state: "ok", checkedAt };
    try {
      await reach(source, { caller: { id: "status", owner: true }, signal: AbortSignal.timeout(patienceMs) });
    } catch (cause) {
      const { kind, message } = toResourceError(cause);
      const problem = kind === "cancelled" ? `did not respond within ${patienceMs / 1000} seconds` : message;
      after = { state: "failing", checkedAt, problem };
    } finally {
      running.delete(source);
    }
    states.set(source, after);
    if (before?.state === after.state && before.problem === after.problem) return;
    if (after.state === "failing")
      runtime.log("warn", "a mount does not respond", { mount: name, problem: after.problem });
    for (const hear of hearers) hear();
  }

  return {
    stateOf: ({ source }) => states.get(source) ?? unchecked,

    refresh(maxAgeMs) {
      const nowMs = runtime.monotonicMs();
      if (nowMs - checkedAtMs < maxAgeMs) return;
      checkedAtMs = nowMs;
      for (const mount of mounts()) void check(mount);
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      hearers.add(hear);
      signal.addEventListener("abort", () => hearers.delete(hear), { once: true });
    },
  };
}

/** The cheapest request that shows whether it responds. */
async function reach(source: Source, call: Call): Promise<void> {
  try {
    if (source.children) return void (await source.children({ path: "" }, { limit: 1 }, call));
  } catch (cause) {
    // An empty source may have no root directory.
    if (toResourceError(cause).kind !== "not-found") throw cause;
  }
  await source.list({ limit: 1 }, call);
}
