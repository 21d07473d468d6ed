/**
 * All that changes V8's use of memory at run time: limits of heap growth, and garbage collections when a thread is idle, because
 * V8 by itself keeps the memory of its peak (docs/decisions/011-v8-memory.md).
 */

/** If set, V8 keeps its own settings. */
const variable = "PRESSMARK_V8_DEFAULTS";
const isOff = Boolean(process.env[variable]);

/** Passes the choice on to a thread that gets no other environment. */
export const v8Environment: Readonly<Record<string, string>> = isOff ? { [variable]: "1" } : {};

/** Size at which the space for new objects stops growing. Enough for the largest lists. */
const enoughBytes = 16 * 1024 * 1024;
/** Check intervals, normally and while the space grows: it doubles several times per second. */
const checkMs = 200;
const closeCheckMs = 25;
/** Delay, so that the first response is sent before. */
const firstMs = 100;

/**
 * Heap growth in percent before a garbage collection. By default the engine lets the heap more than double. Measured while
 * listing a million files: 110 MiB instead of 170, for a tenth more time.
 */
const growingPercent = 50;

/**
 * The engine doubles the space for new objects whenever many of them survive, as they do while thousands of clients connect, and
 * shrinks it late. Measured with 10,000 idle listeners, the limit saves up to a fifth of the memory. A much smaller limit costs
 * time on large lists, and memory too, because more short-lived objects are promoted.
 */
export function limitHeapGrowth(): void {
  if (isOff) return;
  setTimeout(() => {
    const { getHeapSpaceStatistics, setFlagsFromString } = process.getBuiltinModule("node:v8");
    setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
    check();
    releaseMemoryWhenIdle();

    function check(): void {
      const newSpace = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
      if (!newSpace || newSpace.space_size >= enoughBytes) setFlagsFromString("--semi-space-growth-factor=1");
      else setTimeout(check, newSpace.space_size > enoughBytes / 4 ? closeCheckMs : checkMs).unref();
    }
  }, firstMs).unref();
}

/** How often to check while busy, and how rarely after some idle time. */
const busyMs = 250;
const restMs = 4000;
/** Below this share of busy time, the thread counts as idle. */
const idleShare = 0.1;
/** A full collection takes about 20 ms: only for this much memory, and this rarely. */
const leastReleasedBytes = 8 * 1024 * 1024;
const leastBetweenMs = 15_000;

type Collect = (how: { readonly type: "major" | "minor"; readonly flavor?: "last-resort" }) => void;

/** Starts in the calling thread. Does not keep the process alive. */
export function releaseMemoryWhenIdle(): void {
  if (isOff) return;
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
    if (isResting && bytes > heldBytes + leastReleasedBytes && nowMs - collectedMs > leastBetweenMs) {
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
  if (!isOff) collector()({ type: "major", flavor: "last-resort" });
}

/** V8 lets a heap grow by 16 MiB before a collection; a thread whose heap is small collects after less. */
const grownBytes = 8 * 1024 * 1024;
/** Size of the heap after the last collection. */
let collectedBytes = 0;

/** Collects, in about 10 ms, if the heap of this thread has grown by a few megabytes since it last did. Returns whether it did. */
export function releaseGrowth(): boolean {
  if (isOff) return false;
  const { getHeapStatistics } = process.getBuiltinModule("node:v8");
  if (getHeapStatistics().used_heap_size < collectedBytes + grownBytes) return false;
  collector()({ type: "major" });
  collectedBytes = getHeapStatistics().used_heap_size;
  return true;
}

const maxGarbageBytes = 4 * 1024 * 1024;
let garbageBytes = 0;

/**
 * Counts arrays that were used for a moment and collects them in time, in about a millisecond: V8 sees only the small objects that hold them, and
 * would collect late.
 */
export function countGarbage(bytes: number): void {
  garbageBytes += bytes;
  if (garbageBytes < maxGarbageBytes) return;
  garbageBytes = 0;
  if (!isOff && !releaseGrowth()) collector()({ type: "minor" });
}

function collector(): Collect {
  if (!collect) {
    process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
    collect = process.getBuiltinModule("node:vm").runInNewContext("gc") as Collect;
  }
  return collect;
}
