/** Formats the counters of this server for Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
import type { QuotaRefusals } from "../access/quotas.ts";
import type { RequestCounts } from "./server-metrics.ts";
import type { ShownStatus } from "./server-index.ts";

interface MetricsSnapshot {
  readonly tally: RequestCounts;
  readonly version: string;
  readonly sessions: number;
  readonly streams: number;
  readonly refusals: readonly QuotaRefusals[];
  /** Undefined without an index. */
  readonly status: ShownStatus | undefined;
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** Contains no names of mounts, because access is not checked here. */
export function toText({ tally, version, sessions, streams, refusals, status }: MetricsSnapshot): string {
  const methods = [...tally.methods].sort(([left], [right]) => (left < right ? -1 : 1));
  const mounts = status?.mounts ?? [];
  const sum = (of: (mount: (typeof mounts)[number]) => number) => mounts.reduce((total, mount) => total + of(mount), 0);
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    family("pressmark_info", "gauge", "Version of Pressmark.", [[{ version, node: process.version }, 1]]),
    family(
      "pressmark_requests_total",
      "counter",
      "Requests by method and outcome.",
      methods.flatMap(([method, { outcomes }]) =>
        [...outcomes].map(([outcome, count]): Sample => [{ method, outcome }, count]),
      ),
    ),
    family(
      "pressmark_request_duration_seconds",
      "histogram",
      "Response times, without listens.",
      methods.flatMap(([method, { buckets, seconds }]) => histogram({ method }, tally.bounds, buckets, seconds)),
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
    family("pressmark_index_documents", "gauge", "Documents in the search index.", [
      [{}, sum((each) => each.documents)],
    ]),
    family("pressmark_index_pending", "gauge", "Documents waiting to be indexed.", [[{}, sum((each) => each.pending)]]),
    family("pressmark_index_unread", "gauge", "Documents that could not be read.", [[{}, sum((each) => each.unread)]]),
    family("pressmark_index_ready_ratio", "gauge", "Share of documents that is indexed.", [
      [{}, mounts.length === 0 ? 0 : sum((each) => each.ready) / mounts.length],
    ]),
    family("pressmark_index_bytes", "gauge", "Size of the search index on disk.", [[{}, status?.bytes ?? 0]]),
    family("process_resident_memory_bytes", "gauge", "Resident memory of the process.", [[{}, rss]]),
    family("nodejs_heap_used_bytes", "gauge", "Used JavaScript heap.", [[{}, heapUsed]]),
    family("nodejs_external_memory_bytes", "gauge", "Memory outside the JavaScript heap.", [[{}, external]]),
    family("process_cpu_seconds_total", "counter", "Used processor time.", [[{}, (user + system) / 1e6]]),
    family("process_start_time_seconds", "gauge", "Start time of the process, in seconds since 1970.", [
      [{}, performance.timeOrigin / 1000],
    ]),
  ].join("");
}

function histogram(labels: Labels, bounds: readonly number[], buckets: readonly number[], seconds: number): Sample[] {
  let count = 0;
  const counted = buckets.map((each, index): Sample => {
    count += each;
    return [{ ...labels, le: index < bounds.length ? String(bounds[index]) : "+Inf" }, count, "_bucket"];
  });
  return [...counted, [labels, seconds, "_sum"], [labels, count, "_count"]];
}

function family(
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
