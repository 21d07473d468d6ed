/** Limits repeated log lines, which callers could otherwise use to fill the log. */

/** Lines per kind, request and interval. */
const mostOfRequest = 10;
/** Lines per kind and interval, for requests that a caller makes up. */
const mostOfKind = 100;
export const spanMs = 60_000;
/** Kinds beyond this number share one limit. */
const maxKinds = 1000;

interface Span {
  written: number;
  missed: number;
  /** Lines written by request. */
  readonly requests: Map<string, number>;
}

export function createLineLimit() {
  const spans = new Map<string, Span>();

  function begin(kind: string, missed: (count: number) => void): Span {
    const span: Span = { written: 0, missed: 0, requests: new Map() };
    spans.set(kind, span);
    const timer = setTimeout(() => {
      spans.delete(kind);
      if (span.missed > 0) missed(span.missed);
    }, spanMs);
    timer.unref();
    return span;
  }

  return {
    /**
     * Whether to write a line of this kind about this request now. `missed` is called with the number of dropped lines of the kind when the
     * interval ends.
     */
    admits(wanted: string, wantedRequest: string, missed: (count: number) => void): boolean {
      const isKnown = spans.has(wanted) || spans.size < maxKinds;
      const [kind, request] = isKnown ? [wanted, wantedRequest] : ["", ""];
      const span = spans.get(kind) ?? begin(kind, missed);
      const written = span.requests.get(request) ?? 0;
      if (span.written >= mostOfKind || written >= mostOfRequest) {
        span.missed += 1;
        return false;
      }
      span.written += 1;
      span.requests.set(request, written + 1);
      return true;
    },
  };
}
