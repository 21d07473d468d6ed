/** Keeps one line that is said again and again from filling the log: whoever asks often enough could make it so. */

export interface LineLimit {
  /** Whether a line of this kind is to be written now. Lines that were not are told of, as a number, when their time is over. */
  admits(kind: string, missed: (count: number) => void): boolean;
}

/** So many of a kind are written in each span of time. */
const most = 10;
export const spanMs = 60_000;
/** Kinds are few; should they not be, those beyond count as one. */
const maxKinds = 1000;

interface Span {
  written: number;
  missed: number;
}

export function createLineLimit(): LineLimit {
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
    admits(asked, missed) {
      const kind = spans.has(asked) || spans.size < maxKinds ? asked : "";
      const span = spans.get(kind) ?? begin(kind, missed);
      if (span.written < most) span.written += 1;
      else span.missed += 1;
      return span.missed === 0;
    },
  };
}
