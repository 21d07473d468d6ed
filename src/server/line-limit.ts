/** Limits repeated log lines, which callers could otherwise use to fill the log. */

/** Lines per kind and interval. */
const most = 10;
export const spanMs = 60_000;
/** Kinds beyond this number share one limit. */
const maxKinds = 1000;

interface Span {
  written: number;
  missed: number;
}

export function createLineLimit() {
  const spans = new Map<string, Span>();

  function begin(kind: string, missed: (count: number) => void): Span {
    const span: Span = { written: 0, missed: 0 };
    spans.set(kind, span);
    const timer = setTimeout(() => {
      spans.delete(kind);
      if (span.missed > 0) missed(span.missed);
    }, spanMs);
    timer.unref();
    return span;
  }

  return {
    /** Whether to write a line of this kind now. `missed` is called with the number of dropped lines when the interval ends. */
    admits(wanted: string, missed: (count: number) => void): boolean {
      const kind = spans.has(wanted) || spans.size < maxKinds ? wanted : "";
      const span = spans.get(kind) ?? begin(kind, missed);
      if (span.written < most) span.written += 1;
      else span.missed += 1;
      return span.missed === 0;
    },
  };
}
