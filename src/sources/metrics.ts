/** Metrics of a Prometheus server, or of any server with its HTTP API, as time series. */
import type { z as Zod } from "zod";
import { entriesPage } from "../backends/entries-page.ts";
import { intOption } from "../lib/int-option.ts";
import { invalid, notFound, quote, ResourceError, unsupported } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { createGlob, GlobError } from "../lib/glob.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { directoryType } from "../resources.ts";
import type { Page } from "../resources.ts";
import { defineSource, segmentsOf } from "../source.ts";
import type { Address, Entry, ListRequest, Part, Source, SourceProblem, SourceTemplate, Runtime } from "../source.ts";
import { type Api, createApi } from "./metrics/api.ts";
import {
  type MetricsRequest,
  parsePromqlRequest,
  parseSeriesRequest,
  type MetricsFormat,
  isBucketName,
  queryTemplate,
  refuseUnknown,
  seriesTemplate,
  formatMetricsQuery,
} from "./metrics/metrics-request.ts";
import { createMetricsCatalogue, type Metric } from "./metrics/catalogue.ts";
import { complete } from "./metrics/complete.ts";
import { metricEntry, findMetrics } from "./metrics/find-metrics.ts";
import { createLabelMasking, personalLabels } from "./metrics/label-masking.ts";
import { readMatrix, type Matrix } from "./metrics/matrix.ts";
import { toSvg } from "./metrics/plot.ts";
import { matrixToCsv, toJson } from "./metrics/render.ts";
import { toAlerts, toTargets } from "./metrics/state.ts";
import { createWatcher } from "./metrics/watch.ts";

function metricsOptions(z: typeof Zod) {
  return z.object({
    url: z.url({ protocol: /^https?$/ }).describe("Address of the server, up to /api/v1: http://127.0.0.1:9090"),
    token: z.string().min(1).optional().describe("Sent as Authorization: Bearer; best as a reference, ${env:NAME}"),
    username: z.string().min(1).optional().describe("User name for HTTP basic authentication, with password"),
    password: z
      .string()
      .optional()
      .describe("Password for HTTP basic authentication; best as a reference, ${env:NAME}"),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe("Headers to send with each request, such as X-Scope-OrgID for a tenant"),
    labels: z.array(z.string().min(1)).default([]).describe("Patterns of the labels that are shown; empty for all"),
    redactLabels: z
      .array(z.string().min(1))
      .default([...personalLabels])
      .describe("Patterns of labels with personal data: their values are replaced by pseudonyms"),
    queries: z.boolean().default(true).describe("Whether callers may send PromQL queries"),
    range: z
      .string()
      .regex(/^(?:\d{1,10}(?:ms|[smhdwy]))+$/, "must be a duration, such as 1h")
      .default("1h")
      .describe("Time range of a query that gives none"),
    maxSeries: intOption(z, 1, 10_000, 100).describe("Most series in one response"),
    maxPoints: intOption(z, 10, 2_000_000, 5000).describe(
      "Most points in one response; the step is chosen accordingly",
    ),
    intervalMs: intOption(z, 1000, 86_400_000, 15_000).describe(
      "Scrape interval of the server: the chosen step is never shorter",
    ),
    timeoutMs: intOption(z, 1, 300_000, 20_000).describe("Time limit of one call, with all its requests and retries"),
    pollMs: z
      .int()
      .min(1000)
      .max(86_400_000)
      .optional()
      .describe("How often to check for new samples and states while a client is subscribed. Default: intervalMs"),
  });
}

export type MetricsOptions = Zod.output<ReturnType<typeof metricsOptions>>;

export default defineSource<MetricsOptions>({
  name: "metrics",
  summary: "Time series, alerts and targets of Prometheus, or of a server with the same API",
  scheme: "metrics",
  // Numbers do not belong in a text index; the source itself searches the names and descriptions of metrics.
  searchable: false,
  options: metricsOptions,
  base: () => "metrics://",
  usesCredentials: ({ url, token, username, password, headers }) =>
    [token, username, password].some((each) => each !== undefined) ||
    Object.keys(headers ?? {}).length > 0 ||
    mayHoldSecret(url),
  open: async (options, runtime) => createMetrics(options, runtime),
});

const json = "application/json";
const types: Readonly<Record<MetricsFormat, string>> = { json, csv: "text/csv", svg: "image/svg+xml" };
const entries = {
  alerts: {
    path: "alerts",
    title: "Alerts",
    description: "Alerts that are pending or firing, with their labels and start times",
    mimeType: json,
  },
  series: {
    path: "series",
    title: "Catalogue of metrics",
    description: "The name, type, unit and meaning of every metric; each is read at series/{name}",
    mimeType: json,
  },
  targets: {
    path: "targets",
    title: "Targets",
    description: "Scraped targets, whether they are up, and their last error",
    mimeType: json,
  },
} satisfies Readonly<Record<string, Entry>>;

const catalogueTemplate = "series{?match,after}";
const templates: readonly SourceTemplate[] = [
  {
    template: seriesTemplate,
    name: "Series",
    description:
      "One metric over time: range=1h or from/to, step=1m, agg=sum, rate, p95 or sum.rate, by=label, where=label=value, format=json, csv or svg",
  },
  {
    template: queryTemplate,
    name: "PromQL",
    description: "A PromQL query over a time range: promql=…, range=1h, step=1m, format=json, csv or svg",
  },
  {
    template: catalogueTemplate,
    name: "Catalogue of metrics",
    description: "The metrics whose name matches a pattern, such as match=node_*",
    mimeType: json,
  },
];
/** Metrics on one page of the catalogue. */
const cataloguePage = 2000;
/** After this time, a server without alerts or targets is checked again. */
const absentMs = 5 * 60 * 1000;
/** Samples older than this no longer change. */
const settledMs = 10 * 60 * 1000;

/** @internal `given` replaces the requests to the server. */
export function createMetrics(options: MetricsOptions, runtime: Runtime, given?: Api): Source {
  const { intervalMs, range } = options;
  const closing = new AbortController();
  const redaction = createLabelMasking({ labels: options.labels, redact: options.redactLabels });
  const api = given ?? createApi({ ...options, clean: redaction.cleanSaid });
  const catalogue = createMetricsCatalogue(api, runtime.monotonicMs, closing.signal);
  const watcher = createWatcher({ api, catalogue, pollMs: options.pollMs ?? intervalMs, runtime });
  const presence = new Map<string, { readonly isThere: boolean; readonly untilMs: number }>();

  async function has(endpoint: string, signal: AbortSignal): Promise<boolean> {
    const known = presence.get(endpoint);
    if (known && runtime.monotonicMs() < known.untilMs) return known.isThere;
    const isThere = await api.has(endpoint, signal);
    presence.set(endpoint, { isThere, untilMs: isThere ? Infinity : runtime.monotonicMs() + absentMs });
    return isThere;
  }

  const asking = () => ({ nowMs: runtime.now(), range, intervalMs, redaction });

  async function page(request: ListRequest, signal: AbortSignal): Promise<Page<Entry>> {
    const [hasAlerts, hasTargets] = await Promise.all([has("alerts", signal), has("targets", signal)]);
    const all = [...(hasAlerts ? [entries.alerts] : []), entries.series, ...(hasTargets ? [entries.targets] : [])];
    return entriesPage(all, request);
  }

  /** Parses the request at this address, and checks that the metric exists. */
  async function understand(
    at: Address,
    signal: AbortSignal,
  ): Promise<{ readonly request: MetricsRequest; readonly metric?: Metric }> {
    const [room, name, ...deeper] = segmentsOf(at.path);
    if (room === "query" && name === undefined && options.queries) return { request: parsePromqlRequest(at, asking()) };
    if (room !== "series" || name === undefined || deeper.length > 0) throw notFound(at.path);
    const metric = await catalogue.find(name, signal);
    if (!metric) throw notFound(at.path);
    const isHistogram = metric.type === "histogram" && !/_(?:sum|count|created)$/.test(name);
    return { request: parseSeriesRequest(name, at, isHistogram || isBucketName(name), asking()), metric };
  }

  async function readSeries(at: Address, signal: AbortSignal): Promise<Part> {
    const { request, metric } = await understand(at, signal);
    const matrix = await readMatrix(api, request, options, redaction, signal);
    const { span, stepMs, points, expression, series } = matrix;
    const isSettled = !span.isMoving && runtime.now() - span.endMs > settledMs;
    return {
      mimeType: types[request.format],
      body: { text: render(matrix, request, metric) },
      meta: {
        "pressmark/metrics": {
          promql: expression,
          start: new Date(span.startMs).toISOString(),
          end: new Date(span.endMs).toISOString(),
          step: stepMs / 1000,
          series: series.length,
          points,
          ...(points === 0 && { note: nothingIn(matrix) }),
        },
      },
      freshness: { ttlMs: isSettled ? settledMs : intervalMs },
    };
  }

  async function readCatalogue({ query = {} }: Address, signal: AbortSignal): Promise<Part> {
    const { match, after } = query;
    const fits = match === undefined ? () => true : patternOf(match);
    const all = (await catalogue.all(signal)).filter(({ name }) => fits(name));
    const rest = after === undefined ? all : all.filter(({ name }) => compareAddresses(name, after) > 0);
    const metrics = rest.slice(0, cataloguePage);
    const isCut = metrics.length < rest.length;
    const next = formatMetricsQuery({ ...(match !== undefined && { match }), after: metrics.at(-1)?.name ?? "" });
    const reported = {
      total: all.length,
      ...(!catalogue.hasMetadata && { note: "the metrics server gives no metadata for its metrics" }),
      metrics,
    };
    return {
      mimeType: json,
      body: { text: JSON.stringify(reported) },
      ...(isCut && { meta: { "pressmark/range": { next } } }),
      freshness: { ttlMs: intervalMs },
    };
  }

  async function readState(endpoint: "alerts" | "targets", signal: AbortSignal): Promise<Part> {
    const { data } = await api.request(endpoint, endpoint === "targets" ? { state: "active" } : {}, signal);
    const shown = endpoint === "alerts" ? toAlerts(data, redaction) : toTargets(data, redaction);
    return {
      mimeType: json,
      body: { text: JSON.stringify({ status: "success", data: shown }) },
      freshness: { ttlMs: 0 },
    };
  }

  return {
    timeoutMs: options.timeoutMs,

    list: (request, { signal }) => page(request, signal),

    async read(at, { signal }) {
      const { path, query = {} } = at;
      switch (path) {
        case "":
          refuseUnknown(query, [], path);
          throw new ResourceError("directory", "a directory; list its children instead");
        case "alerts":
        case "targets":
          refuseUnknown(query, [], path);
          return [await readState(path, signal)];
        case "series":
          refuseUnknown(query, ["match", "after"], path);
          return [await readCatalogue(at, signal)];
        default:
          return [await readSeries(at, signal)];
      }
    },

    async stat(at, { signal }) {
      const { path, query = {} } = at;
      if (path === "" || path === "alerts" || path === "targets") {
        refuseUnknown(query, [], path);
        return path === "" ? { path, mimeType: directoryType } : entries[path];
      }
      if (path === "series") {
        refuseUnknown(query, ["match", "after"], path);
        return { ...entries.series, ...(at.query && { query }) };
      }
      const { request, metric } = await understand(at, signal);
      return {
        ...(metric ? metricEntry(metric) : { path }),
        ...(at.query && { query }),
        mimeType: types[request.format],
      };
    },

    async children({ path, query = {} }, request, { signal }) {
      refuseUnknown(query, [], path);
      if (path !== "") throw notFound(path);
      return page(request, signal);
    },

    templates: options.queries ? templates : templates.filter(({ template }) => template !== queryTemplate),

    complete: (request, { signal }) => complete(request, { api, catalogue, redaction, now: runtime.now }, signal),

    async search({ text, limit, within }, { signal }) {
      if (within !== undefined && within !== "" && within !== "series") return [];
      return findMetrics(await catalogue.all(signal), text).slice(0, limit);
    },

    async problems({ signal }) {
      const requested = ["alerts", "targets", "metadata"].map(async (endpoint) =>
        (await has(endpoint, signal)) ? [] : [endpoint],
      );
      return problemsOf(options, (await Promise.all(requested)).flat());
    },

    watch: async ({ signal }) => watcher.watch(AbortSignal.any([signal, closing.signal])),

    lists: ({ path, query }) => query === undefined && Object.values(entries).some((entry) => entry.path === path),
    follow: (at, call) => watcher.follow(at, call),

    async close() {
      closing.abort();
    },
  };
}

function render(matrix: Matrix, { format, title, heading, unit }: MetricsRequest, metric: Metric | undefined): string {
  const isBare =
    format !== "json" && matrix.series.length > 0 && matrix.series.every(({ values }) => values.length === 0);
  if (isBare && matrix.points > 0)
    throw unsupported(
      `the values of ${quote(title)} are histograms, which only format=json can show; use agg=p95, or histogram_quantile`,
    );
  if (format === "csv") return matrixToCsv(matrix);
  if (format === "svg") {
    const measured = unit === "none" ? undefined : metric?.unit;
    return toSvg(matrix, heading, measured && unit === "per second" ? `${measured} per second` : measured);
  }
  return toJson(matrix, matrix.points === 0 ? [nothingIn(matrix)] : []);
}

function nothingIn({ span }: Matrix): string {
  return `no data between ${new Date(span.startMs).toISOString()} and ${new Date(span.endMs).toISOString()}`;
}

function patternOf(pattern: string): (name: string) => boolean {
  try {
    const glob = createGlob(pattern);
    return (name) => glob.matches(name);
  } catch (cause) {
    if (cause instanceof GlobError) throw invalid(`match=${quote(pattern, 60)}: ${cause.message}`);
    throw cause;
  }
}

function problemsOf({ url, token, username }: MetricsOptions, missing: readonly string[]): SourceProblem[] {
  const { protocol, hostname } = new URL(url);
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  const isOpen = protocol === "http:" && !isLocal && (token !== undefined || username !== undefined);
  return [
    ...(isOpen ? [{ path: "", says: "sends its credentials over plain http", advice: "use https:// in its url" }] : []),
    ...missing.map((endpoint) => ({
      path: "",
      says: `cannot show ${endpoint === "metadata" ? "types and texts of metrics" : endpoint}: its server has no /api/v1/${endpoint}`,
    })),
  ];
}
