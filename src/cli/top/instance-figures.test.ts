import { describe, expect, it } from "vitest";
import { figuresOf, quantileMs } from "./instance-figures.ts";
import { parseMetrics } from "./parse-metrics.ts";
import { showFigures } from "./show-figures.ts";

const text = (requests: number, failed: number) => `# HELP pressmark_info Version.
# TYPE pressmark_info gauge
pressmark_info{version="1.2.3",node="v24"} 1
pressmark_requests_total{method="resources/read",revision="2026-07-28",source="file",outcome="ok"} ${requests}
pressmark_requests_total{method="resources/read",revision="2026-07-28",source="git",outcome="failed"} ${failed}
pressmark_request_duration_seconds_bucket{method="resources/read",source="file",le="0.01"} ${requests / 2}
pressmark_request_duration_seconds_bucket{method="resources/read",source="file",le="0.1"} ${requests}
pressmark_request_duration_seconds_bucket{method="resources/read",source="file",le="+Inf"} ${requests}
pressmark_bus_connected{engine="nats"} 0
pressmark_bus_lag_messages{engine="nats"} 4
pressmark_leases_held 2
pressmark_leases_expired 1
process_resident_memory_bytes 50000000
not a sample
`;

const look = (requests: number, failed: number, seconds: number) => ({
  samples: parseMetrics(text(requests, failed)),
  atMs: seconds * 1000,
  uptimeSeconds: seconds,
});

const bucket = (le: string, amount: number) => ({ labels: { le }, amount });

describe("the figures of an instance", () => {
  it("are about the time between two looks", () => {
    const figures = figuresOf(look(300, 30, 20), look(100, 10, 10));
    expect(figures).toMatchObject({ requestsPerSecond: 22, errorsPerSecond: 2, spanSeconds: 10 });
    expect(figures.p50Ms).toBeCloseTo(10);
    expect(figures.p95Ms).toBeCloseTo(91);
    expect(figures.sources).toMatchObject([
      { name: "file", perSecond: 20, errorsPerSecond: 0 },
      { name: "git", perSecond: 2, errorsPerSecond: 2 },
    ]);
    expect(figures.bus).toMatchObject({ engine: "nats", connected: false, lag: 4 });
  });

  it("are about the time since the start without an earlier look, and after a restart", () => {
    expect(figuresOf(look(100, 0, 10)).requestsPerSecond).toBe(10);
    expect(figuresOf(look(100, 0, 10), look(500, 0, 50)).requestsPerSecond).toBe(10);
  });

  it("show what is wrong with the bus and the leases", () => {
    const [, row] = showFigures([{ url: "http://a.example", figures: figuresOf(look(100, 0, 10)) }]);
    expect(row).toContain("nats DOWN");
    expect(row).toContain("2 (1 without leader)");
  });
});

describe("a quantile", () => {
  it("is linear within its bucket, and the beginning of the last one", () => {
    const all = [bucket("1", 10), bucket("2", 20), bucket("+Inf", 30)];
    expect(quantileMs(0.5, all)).toBe(1500);
    expect(quantileMs(0.99, all)).toBe(2000);
    expect(quantileMs(0.5, [bucket("1", 0), bucket("+Inf", 0)])).toBeUndefined();
    expect(quantileMs(0.5, [])).toBeUndefined();
  });
});
