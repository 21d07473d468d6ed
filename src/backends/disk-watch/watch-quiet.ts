/** Collects paths until no event has arrived for any of them for a while, then hands them over together. */

interface Quiet {
  /** Number of waiting paths. */
  readonly size: number;
  has(path: string): boolean;
  /** Records an event for a path, and restarts the quiet period. */
  hear(path: string): void;
  /** `look` is not called afterwards. */
  close(): void;
}

interface QuietOptions {
  readonly quietMs: number;
  /** The longest time that a path waits if the events do not stop. */
  readonly maxHoldMs: number;
  /** Called with all waiting paths, which are then removed. */
  look(paths: readonly string[]): void;
}

export function createQuiet({ quietMs, maxHoldMs, look }: QuietOptions): Quiet {
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let firstMs = 0;
  let lastMs = 0;

  function check(): void {
    const restMs = Math.min(lastMs + quietMs, firstMs + maxHoldMs) - performance.now();
    if (restMs > 0) {
      timer = setTimeout(check, Math.ceil(restMs));
      return;
    }
    const paths = [...waiting];
    waiting.clear();
    look(paths);
  }

  return {
    get size() {
      return waiting.size;
    },
    has: (path) => waiting.has(path),
    hear(path) {
      lastMs = performance.now();
      if (waiting.size === 0) {
        firstMs = lastMs;
        timer = setTimeout(check, Math.min(quietMs, maxHoldMs));
      }
      waiting.add(path);
    },
    close() {
      clearTimeout(timer);
      waiting.clear();
    },
  };
}
