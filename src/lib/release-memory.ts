/** Gives memory back once a thread has nothing to do: left to itself, the engine keeps what a busy moment took. */

/** How often to look while there is work, and how rarely once there has been none for a while. */
const busyMs = 250;
const restMs = 4000;
/** Who is busy for less of the time has nothing to do. */
const idleShare = 0.1;
/** A look through all of it takes some 20 ms: only for so much, and so rarely. */
const worthBytes = 8 * 1024 * 1024;
const leastBetweenMs = 15_000;

type Collect = (how: { readonly type: "major"; readonly flavor: "last-resort" }) => void;

/** From here on, in the thread that calls it. Keeps nothing alive. */
export function releaseMemoryWhenIdle(): void {
  const { getHeapStatistics } = process.getBuiltinModule("node:v8");
  let before = performance.eventLoopUtilization();
  let delayMs = busyMs;
  /** The least that was held. */
  let heldBytes = getHeapStatistics().total_physical_size;
  let collectedMs = -leastBetweenMs;
  setTimeout(look, delayMs).unref();

  function look(): void {
    const now = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(now, before).utilization < idleShare;
    before = now;
    // The first idle moment may be a pause.
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

/** At once, also what threads that have ended held: by the one kind of collection that hands free pages back to the system. */
export function releaseMemory(): void {
  if (!collect) {
    process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
    collect = process.getBuiltinModule("node:vm").runInNewContext("gc") as Collect;
  }
  collect({ type: "major", flavor: "last-resort" });
}
