/** Paths that are looked at together once nothing has been heard of any of them for a while. */

export interface Quiet {
  /** How many wait. */
  readonly size: number;
  has(path: string): boolean;
  /** Something was heard of a path: the quiet begins anew. */
  hear(path: string): void;
  /** Nothing is looked at afterwards. */
  close(): void;
}

export interface QuietOptions {
  readonly quietMs: number;
  /** The longest that anything waits for a quiet that does not come. */
  readonly maxHoldMs: number;
  /** Called with all that waited, which no longer do. */
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
