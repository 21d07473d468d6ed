/** Releases memory when a thread is idle: by default, the engine keeps the memory of its peak. */

/** How often to check while busy, and how rarely after some idle time. */
const busyMs = 250;
const restMs = 4000;
/** Below this share of busy time, the thread counts as idle. */
const idleShare = 0.1;
/** A full collection takes about 20 ms: only for this much memory, and this rarely. */
const worthBytes = 8 * 1024 * 1024;
const leastBetweenMs = 15_000;

type Collect = (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;

/** Starts in the calling thread. Does not keep the process alive. */
export function releaseMemoryWhenIdle(): void {
  const { getHeapStatistics } = process.getBuiltinModule("node:v8");
  let before = performance.eventLoopUtilization();
  let delayMs = busyMs;
  /** The lowest size so far. */
  let heldBytes = getHeapStatistics().total_physical_size;
  let collectedMs = -leastBetweenMs;
  setTimeout(look, delayMs).unref();

  function look(): void {
    const now = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(now, before).utilization < idleShare;
    before = now;
    // The first idle moment may be a short pause.
    const isResting = isIdle && delayMs > busyMs;
    delayMs = isIdle ? Math.min(delayMs * 2, restMs) : busyMs;
    const bytes = getHeapStatistics().total_physical_size;
    heldBytes = Math.min(heldBytes, bytes);
    const nowMs = performance.now();
    if (isResting && bytes > heldBytes + worthBytes && nowMs - collectedMs > leastBetweenMs) {
      collectedMs = nowMs;
      releaseMemory();
      heldBytes = getHeapStatistics().total_physical_size;
    }
    setTimeout(look, delayMs).unref();
  }
}

let collect: Collect | undefined;

/** Immediately, including the memory of ended threads: with the only kind of collection that returns free pages to the system. */
export function releaseMemory(): void {
  if (!collect) {
    process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
    collect = process.getBuiltinModule("node:vm").runInNewContext("gc") as Collect;
  }
  collect({ type: "major", flavor: "last-resort" });
}
