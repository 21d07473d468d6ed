/** Keeps what is short-lived in the heap from growing without need: ten thousand idle listeners are old, not young. */

/** From here on new objects are no longer given more room at once. Enough for the largest lists. */
const enoughBytes = 8 * 1024 * 1024;
const checkMs = 200;

/**
 * The engine doubles the room for new objects whenever many of them survive, as they do while thousands of clients connect, and
 * gives it back late. Measured with 10,000 idle listeners, holding it at this size saves a fifth of the memory; holding it
 * smaller costs time on large lists.
 */
export function boundYoungGeneration(): void {
  const timer = setInterval(() => {
    const { getHeapSpaceStatistics, setFlagsFromString } = process.getBuiltinModule("node:v8");
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (young && young.space_size < enoughBytes) return;
    clearInterval(timer);
    setFlagsFromString("--semi-space-growth-factor=1");
  }, checkMs);
  timer.unref();
}
