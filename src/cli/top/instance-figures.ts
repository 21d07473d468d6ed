/** What `pressmark top` shows of one server, from one or two looks at its `/metrics`. */
import type { MetricSamples } from "./parse-metrics.ts";

/** One look at a server. */
export interface MetricsLook {
  readonly samples: MetricSamples;
  /** By a clock that never goes back. */
  readonly atMs: number;
  /** Seconds since the server started, by its own clock. */
  readonly uptimeSeconds: number;
}

export interface RateRow {
  readonly name: string;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  readonly p95Ms: number | undefined;
}

export interface InstanceFigures {
  readonly version: string;
  readonly uptimeSeconds: number;
  /** Seconds that rates and times are about. */
  readonly spanSeconds: number;
  readonly requestsPerSecond: number;
  readonly errorsPerSecond: number;
  /** Absent without a request. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly sessions: number;
  readonly listens: number;
  readonly index: {
    readonly documents: number;
    readonly pending: number;
    readonly ready: number;
    readonly lagSeconds: number;
  };
  /** Absent without a read. */
  readonly cacheHitRatio?: number;
  /** Absent in a server of one instance. */
  readonly bus?: { readonly engine: string; readonly connected: boolean; readonly lag: number; readonly gaps: number };
  readonly leases?: { readonly held: number; readonly expired: number };
  readonly database?: { readonly up: boolean; readonly open?: number; readonly waiting?: number };
  readonly memoryBytes: number;
  /** Processors in use. */
  readonly cpu: number;
  readonly methods: readonly RateRow[];
  readonly sources: readonly RateRow[];
}

const requests = "pressmark_requests_total";
const buckets = "pressmark_request_duration_seconds_bucket";
const failures: ReadonlySet<string | undefined> = new Set(["failed", "error"]);

/** Between two looks; without an earlier one, or after a restart, since the server started. */
export function figuresOf(now: MetricsLook, earlier?: MetricsLook): InstanceFigures {
  const before = earlier && earlier.uptimeSeconds <= now.uptimeSeconds ? earlier : undefined;
  const spanSeconds = before ? (now.atMs - before.atMs) / 1000 : now.uptimeSeconds;
  const rate = (amount: number) => (spanSeconds > 0 ? amount / spanSeconds : 0);
  const total = (name: string) => sum(now.samples, name);
  const grown = (name: string) => total(name) - (before ? sum(before.samples, name) : 0);
  const known = (name: string) => now.samples.get(name)?.[0]?.value;
  const counted = growth(now.samples, before?.samples, requests);
  const timed = growth(now.samples, before?.samples, buckets);
  const hits = grown("pressmark_cache_hits_total");
  const reads = hits + grown("pressmark_cache_misses_total");
  const [bus] = now.samples.get("pressmark_bus_connected") ?? [];
  const held = known("pressmark_leases_held");
  const up = known("pressmark_database_up");

  function rowsBy(label: "method" | "source"): RateRow[] {
    const names = [...new Set(counted.map(({ labels }) => labels[label] ?? ""))];
    return names
      .map((name): RateRow => {
        const own = counted.filter(({ labels }) => labels[label] === name);
        return {
          name,
          perSecond: rate(amountOf(own)),
          errorsPerSecond: rate(amountOf(own.filter(isFailure))),
          p95Ms: quantileMs(
            0.95,
            timed.filter(({ labels }) => labels[label] === name),
          ),
        };
      })
      .filter(({ perSecond }) => perSecond > 0)
      .sort((one, other) => other.perSecond - one.perSecond);
  }

  return {
    version: now.samples.get("pressmark_info")?.[0]?.labels["version"] ?? "",
    uptimeSeconds: now.uptimeSeconds,
    spanSeconds,
    requestsPerSecond: rate(amountOf(counted)),
    errorsPerSecond: rate(amountOf(counted.filter(isFailure))),
    p50Ms: quantileMs(0.5, timed),
    p95Ms: quantileMs(0.95, timed),
    sessions: total("pressmark_sessions"),
    listens: total("pressmark_listens"),
    index: {
      documents: total("pressmark_index_documents"),
      pending: total("pressmark_index_pending"),
      ready: total("pressmark_index_ready_ratio"),
      lagSeconds: total("pressmark_index_lag_seconds"),
    },
    ...(reads > 0 && { cacheHitRatio: hits / reads }),
    ...(bus && {
      bus: {
        engine: bus.labels["engine"] ?? "",
        connected: bus.value === 1,
        lag: total("pressmark_bus_lag_messages"),
        gaps: total("pressmark_bus_gaps_total"),
      },
    }),
    ...(held !== undefined && { leases: { held, expired: total("pressmark_leases_expired") } }),
    ...(up !== undefined && {
      database: {
        up: up === 1,
        open: known("pressmark_database_connections"),
        waiting: known("pressmark_database_waiting"),
      },
    }),
    memoryBytes: total("process_resident_memory_bytes"),
    cpu: rate(grown("process_cpu_seconds_total")),
    methods: rowsBy("method"),
    sources: rowsBy("source"),
  };
}

interface Growth {
  readonly labels: Readonly<Record<string, string>>;
  readonly amount: number;
}

function isFailure({ labels }: Growth): boolean {
  return failures.has(labels["outcome"]);
}

function amountOf(all: readonly Growth[]): number {
  return all.reduce((total, { amount }) => total + amount, 0);
}

function sum(samples: MetricSamples, name: string): number {
  return (samples.get(name) ?? []).reduce((total, { value }) => total + value, 0);
}

/** How much each sample of a counter has grown. */
function growth(now: MetricSamples, before: MetricSamples | undefined, name: string): Growth[] {
  const keyOf = (labels: Growth["labels"]) => JSON.stringify(Object.entries(labels));
  const old = new Map((before?.get(name) ?? []).map(({ labels, value }) => [keyOf(labels), value]));
  return (now.get(name) ?? []).map(({ labels, value }) => ({ labels, amount: value - (old.get(keyOf(labels)) ?? 0) }));
}

/** As `histogram_quantile` of Prometheus: linear within a bucket. The last bucket has no end, so its beginning counts. */
export function quantileMs(share: number, all: readonly Growth[]): number | undefined {
  const byBound = new Map<number, number>();
  for (const { labels, amount } of all) {
    const bound = labels["le"] === "+Inf" ? Infinity : Number(labels["le"]);
    byBound.set(bound, (byBound.get(bound) ?? 0) + amount);
  }
  const sorted = [...byBound].sort(([one], [other]) => one - other);
  const count = sorted.at(-1)?.[1] ?? 0;
  if (count <= 0) return undefined;
  const rank = share * count;
  let [from, below] = [0, 0];
  for (const [to, upTo] of sorted) {
    if (upTo >= rank)
      return 1000 * (to === Infinity || upTo === below ? from : from + ((to - from) * (rank - below)) / (upTo - below));
    [from, below] = [to, upTo];
  }
  return undefined;
}
