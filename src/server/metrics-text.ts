/** Formats the counters of this server for Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
import type { QuotaRefusals, QuotaUsage } from "../access/quotas.ts";
import type { CacheStats } from "../layers/cache.ts";
import type { RequestCounts } from "./server-metrics.ts";
import type { ShownStatus } from "./server-index.ts";

interface MetricsSnapshot {
  readonly tally: RequestCounts;
  readonly version: string;
  readonly sessions: number;
  readonly streams: number;
  readonly refusals: readonly QuotaRefusals[];
  readonly usage: readonly QuotaUsage[];
  readonly cacheStats: CacheStats;
  /** Undefined without an index. */
  readonly status: ShownStatus | undefined;
  readonly indexLagSeconds: number;
}

type Labels = Readonly<Record<string, string>>;
/** Of one family. */
export type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** Contains no names of mounts, because access is not checked here. */
export function toText(snapshot: MetricsSnapshot): string {
  const { tally, version, sessions, streams, refusals, usage, cacheStats, status, indexLagSeconds } = snapshot;
  const methods = byName(tally.methods).flatMap(([method, sources]) =>
    byName(sources).map(([source, counts]) => ({ method, source, ...counts })),
  );
  const mounts = status?.mounts ?? [];
  const sum = (of: (mount: (typeof mounts)[number]) => number) => mounts.reduce((total, mount) => total + of(mount), 0);
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    family("pressmark_info", "gauge", "Version of Pressmark.", [[{ version, node: process.version }, 1]]),
    family(
      "pressmark_requests_total",
      "counter",
      "Requests by method, revision, type of source, and outcome.",
      methods.flatMap(({ method, source, revisions }) =>
        byName(revisions).flatMap(([revision, outcomes]) =>
          byName(outcomes).map(([outcome, count]): Sample => [{ method, revision, source, outcome }, count]),
        ),
      ),
    ),
    family(
      "pressmark_request_duration_seconds",
      "histogram",
      "Response times, without listens.",
      methods.flatMap(({ method, source, buckets, seconds }) =>
        histogram({ method, source }, tally.bounds, buckets, seconds),
      ),
    ),
    family("pressmark_sessions", "gauge", "Open sessions.", [[{}, sessions]]),
    family("pressmark_streams", "gauge", "Open event streams.", [[{}, streams]]),
    family("pressmark_listens", "gauge", "Open listens.", [[{}, tally.listens]]),
    family("pressmark_subscriptions", "gauge", "Watched resources, counted once per listener.", [
      [{}, tally.subscriptions],
    ]),
    family(
      "pressmark_quota_refusals_total",
      "counter",
      "Requests that a quota refused, by caller.",
      refusals.map(({ caller, quota, count }): Sample => [{ caller, quota }, count]),
    ),
    family(
      "pressmark_quota_used_ratio",
      "gauge",
      "Share of a quota that a caller uses now.",
      usage.map(({ caller, quota, share }): Sample => [{ caller, quota }, share]),
    ),
    family("pressmark_cache_hits_total", "counter", "Reads that a cache answered.", [[{}, cacheStats.hits]]),
    family("pressmark_cache_misses_total", "counter", "Reads that a source answered.", [[{}, cacheStats.misses]]),
    family("pressmark_cache_bytes", "gauge", "Size of the read caches.", [
      [{}, [...cacheStats.sizes].reduce((total, size) => total + size(), 0)],
    ]),
    family("pressmark_index_documents", "gauge", "Documents in the search index.", [
      [{}, sum((each) => each.documents)],
    ]),
    family("pressmark_index_pending", "gauge", "Documents waiting to be indexed.", [[{}, sum((each) => each.pending)]]),
    family("pressmark_index_unread", "gauge", "Documents that could not be read.", [[{}, sum((each) => each.unread)]]),
    family("pressmark_index_ready_ratio", "gauge", "Share of documents that is indexed.", [
      [{}, mounts.length === 0 ? 0 : sum((each) => each.ready) / mounts.length],
    ]),
    family("pressmark_index_lag_seconds", "gauge", "Seconds since everything was indexed; 0 while it is.", [
      [{}, indexLagSeconds],
    ]),
    family(
      "pressmark_index_bytes",
      "gauge",
      "Size of the search index on disk.",
      status?.bytes === undefined ? [] : [[{}, status.bytes]],
    ),
    family("process_resident_memory_bytes", "gauge", "Resident memory of the process.", [[{}, rss]]),
    family("nodejs_heap_used_bytes", "gauge", "Used JavaScript heap.", [[{}, heapUsed]]),
    family("nodejs_external_memory_bytes", "gauge", "Memory outside the JavaScript heap.", [[{}, external]]),
    family("process_cpu_seconds_total", "counter", "Used processor time.", [[{}, (user + system) / 1e6]]),
    family("process_start_time_seconds", "gauge", "Start time of the process, in seconds since 1970.", [
      [{}, performance.timeOrigin / 1000],
    ]),
  ].join("");
}

function byName<Name extends string, Value>(map: ReadonlyMap<Name, Value>): (readonly [Name, Value])[] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

function histogram(labels: Labels, bounds: readonly number[], buckets: readonly number[], seconds: number): Sample[] {
  let count = 0;
  const counted = buckets.map((each, index): Sample => {
    count += each;
    return [{ ...labels, le: index < bounds.length ? String(bounds[index]) : "+Inf" }, count, "_bucket"];
  });
  return [...counted, [labels, seconds, "_sum"], [labels, count, "_count"]];
}

export function family(
  name: string,
  type: "counter" | "gauge" | "histogram",
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples.map(([labels, value, suffix = ""]) => `${name}${suffix}${format(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function format(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value.replaceAll(/["\\\n]/g, " ")}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
