/** Counts of this server in the text that Prometheus reads: https://prometheus.io/docs/instrumenting/exposition_formats/ */
import { bounds, type RequestCounts } from "./server-metrics.ts";
import type { ShownStatus } from "./search/index-threads.ts";

export interface MetricsSnapshot {
  readonly tally: RequestCounts;
  readonly version: string;
  readonly sessions: number;
  readonly streams: number;
  /** Undefined until there is an index. */
  readonly status: ShownStatus | undefined;
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** No names of mounts: who may see which is not asked here. */
export function toText({ tally, version, sessions, streams, status }: MetricsSnapshot): string {
  const methods = [...tally.methods].sort(([left], [right]) => (left < right ? -1 : 1));
  const mounts = status?.mounts ?? [];
  const sum = (of: (mount: (typeof mounts)[number]) => number) => mounts.reduce((total, mount) => total + of(mount), 0);
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    family("pressmark_info", "gauge", "Which Pressmark this is.", [[{ version, node: process.version }, 1]]),
    family(
      "pressmark_requests_total",
      "counter",
      "Questions that were answered, by method and by how that ended.",
      methods.flatMap(([method, { outcomes }]) =>
        [...outcomes].map(([outcome, count]): Sample => [{ method, outcome }, count]),
      ),
    ),
    family(
      "pressmark_request_duration_seconds",
      "histogram",
      "How long answers took. Listens are not among them.",
      methods.flatMap(([method, { buckets, seconds }]) => histogram({ method }, buckets, seconds)),
    ),
    family("pressmark_sessions", "gauge", "Sessions that are open.", [[{}, sessions]]),
    family("pressmark_streams", "gauge", "Streams of events that are open.", [[{}, streams]]),
    family("pressmark_listens", "gauge", "Listens of the modern era that are open.", [[{}, tally.listens]]),
    family("pressmark_subscriptions", "gauge", "Resources that are listened to, each once for each listener.", [
      [{}, tally.subscriptions],
    ]),
    family("pressmark_index_documents", "gauge", "Documents in the search index.", [
      [{}, sum((each) => each.documents)],
    ]),
    family("pressmark_index_pending", "gauge", "Documents still to be looked at.", [[{}, sum((each) => each.pending)]]),
    family("pressmark_index_unread", "gauge", "Documents that could not be read.", [[{}, sum((each) => each.unread)]]),
    family("pressmark_index_ready_ratio", "gauge", "How much of what can be searched is indexed.", [
      [{}, mounts.length === 0 ? 0 : sum((each) => each.ready) / mounts.length],
    ]),
    family("pressmark_index_bytes", "gauge", "How large the search index is on disk.", [[{}, status?.bytes ?? 0]]),
    family("process_resident_memory_bytes", "gauge", "Memory that this process holds.", [[{}, rss]]),
    family("nodejs_heap_used_bytes", "gauge", "Memory that JavaScript uses.", [[{}, heapUsed]]),
    family("nodejs_external_memory_bytes", "gauge", "Memory that is used beside JavaScript's own.", [[{}, external]]),
    family("process_cpu_seconds_total", "counter", "Time of the processor that was used.", [
      [{}, (user + system) / 1e6],
    ]),
    family("process_start_time_seconds", "gauge", "When this process began, in seconds since 1970.", [
      [{}, performance.timeOrigin / 1000],
    ]),
  ].join("");
}

function histogram(labels: Labels, buckets: readonly number[], seconds: number): Sample[] {
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
