/** Behaviour that a real server cannot show on demand; the rest is tested against a real one. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../errors.ts";
import { createRuntime, logLine } from "../server/runtime.ts";
import type { Part } from "../source.ts";
import { sweepFaults } from "../testing/faults.ts";
import { sourceContract } from "../testing/source-contract.ts";
import metrics, { createMetrics, type MetricsOptions } from "./metrics.ts";
import { createApi } from "./metrics/api.ts";
import { queryTemplate, seriesTemplate } from "./metrics/metrics-request.ts";
import { failing, names, startTestServer } from "./metrics/test-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });
const server = await startTestServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const optionsOf = (options: Partial<MetricsOptions> = {}): MetricsOptions => ({
  ...metrics.options(z).parse({ url: server.url }),
  ...options,
});
const open = (options: Partial<MetricsOptions> = {}) => createMetrics(optionsOf(options), quiet);
const textOf = ({ body }: Part) => ("text" in body ? body.text : "");
async function read(path: string, query?: Record<string, string>, options?: Partial<MetricsOptions>) {
  const [part] = await open(options).read(query ? { path, query } : { path }, call);
  return { ...part!, text: textOf(part!) };
}
async function json<T>(path: string, query?: Record<string, string>, options?: Partial<MetricsOptions>): Promise<T> {
  return JSON.parse((await read(path, query, options)).text) as T;
}
async function refusalOf(requested: Promise<unknown>): Promise<ResourceError> {
  return requested.then(
    () => expect.fail("it was answered"),
    (cause: unknown) => cause as ResourceError,
  );
}
const queries = () =>
  server.asked.filter(({ endpoint }) => endpoint.startsWith("query")).map(({ params }) => params.get("query"));

let alerts = 0;
sourceContract("metrics", {
  abilities: ["stat", "children", "templates", "complete", "search", "watch"],
  content: { alerts: undefined, series: undefined, targets: undefined },
  async open() {
    server.reset();
    return open({ pollMs: 20 });
  },
  change() {
    alerts += 1;
    server.alerts = [{ labels: { alertname: `Watched ${alerts}` }, state: "firing", value: "1" }];
    return [{ kind: "changed", path: "alerts" }];
  },
  expansions: [
    { at: { path: "series/up" } },
    { at: { path: "series/up", query: { range: "5m", agg: "sum", by: "job", format: "csv" } } },
    { at: { path: "query", query: { promql: "up", format: "svg" } } },
    { at: { path: "series", query: { match: "node_*" } } },
  ],
  completions: [
    { template: seriesTemplate, variable: "name", value: "node", expected: "node_load1" },
    { template: seriesTemplate, variable: "by", value: "instance,j", given: { name: "up" }, expected: "instance,job" },
    { template: seriesTemplate, variable: "where", value: "job=n", given: { name: "up" }, expected: "job=node" },
    { template: seriesTemplate, variable: "format", value: "s", expected: "svg" },
    { template: queryTemplate, variable: "promql", value: "sum(node_l", expected: "sum(node_load1" },
    { template: queryTemplate, variable: "promql", value: 'up{job="a', expected: 'up{job="api"' },
  ],
  findable: { text: "load average", path: "series/node_load1" },
});

it("every failure of a server is reported as a readable error, and calls work again when it is back", async () => {
  const failed = await sweepFaults({
    open: () => createApi(optionsOf()),
    async run(api) {
      const source = createMetrics(optionsOf(), quiet, api);
      await source.list({ limit: 10 }, call);
      for (const path of ["alerts", "targets", "series", "series/up"]) await source.read({ path }, call);
      await source.read({ path: "query", query: { promql: "up" } }, call);
      const template = source.templates!.find((each) => each.template === seriesTemplate)!;
      await source.complete!({ template, variable: "where", value: "job=", given: { name: "up" } }, call);
      await source.follow!({ path: "series/up" }, { ...call, signal: AbortSignal.abort() });
      await source.close!();
    },
    async recovered(api) {
      const source = createMetrics(optionsOf(), quiet, api);
      expect(await source.read({ path: "series/up" }, call)).toHaveLength(1);
    },
    faults: [() => new ResourceError("unavailable", "the server is gone")],
  });
  expect(failed).toBeGreaterThan(8);
});

describe("the catalogue", () => {
  it("gives type, meaning and unit of each metric, by its own name or by that of its family", async () => {
    const { total, metrics: all } = await json<{ total: number; metrics: object[] }>("series");
    expect(total).toBe(names.length);
    expect(all).toEqual([
      { name: "http_requests_total", type: "counter", help: "Requests that were answered." },
      { name: "latency_seconds_bucket", type: "histogram", help: "How long it took.", unit: "seconds" },
      { name: "node_load1", type: "gauge", help: "1m load average." },
      { name: "odd/name ✓" },
      { name: "up" },
    ]);
  });

  it("continues where it was cut", async () => {
    const many = Array.from({ length: 2500 }, (_, index) => `m${String(index).padStart(4, "0")}`);
    server.answers.set("label/__name__/values", () => many);
    const source = open();
    const [first] = await source.read({ path: "series" }, call);
    expect(first!.meta).toEqual({ "pressmark/range": { next: "after=m1999" } });
    // Even if the last one is gone by now.
    many.splice(1999, 1);
    const [second] = await open().read({ path: "series", query: { after: "m1999" } }, call);
    expect(JSON.parse(textOf(second!))).toMatchObject({ total: 2499, metrics: { length: 500, 0: { name: "m2000" } } });
  });

  it("is loaded once for all concurrent callers", async () => {
    const source = open();
    await Promise.all(Array.from({ length: 20 }, () => source.read({ path: "series" }, call)));
    expect(server.asked.map(({ endpoint }) => endpoint).sort()).toEqual(["label/__name__/values", "metadata"]);
  });
});

describe("a series", () => {
  it("is requested with a selector in which its name and values are quoted, whatever they contain", async () => {
    await read("series/odd\0name ✓", { where: 'job=a"} or vector(1) #,instance!=b\\,c', step: "1m" });
    expect(queries().at(-1)).toBe(String.raw`{__name__="odd/name ✓",job="a\"} or vector(1) #",instance!="b,c"}`);
  });

  it.each([
    ["sum", "job", 'sum by (job) ({__name__="up"})'],
    ["rate", "", 'rate({__name__="up"}[1m])'],
    ["sum.rate", "job,instance", 'sum by (job,instance) (rate({__name__="up"}[1m]))'],
    ["p95", "job", 'quantile by (job) (0.95, {__name__="up"})'],
    ["count", "a.b", 'count by ("a.b") ({__name__="up"})'],
  ])("with agg=%s by %s is aggregated", async (agg, by, expression) => {
    await read("series/up", { agg, step: "1m", ...(by && { by }) });
    expect(queries().at(-1)).toBe(expression);
  });

  it("of buckets has quantiles", async () => {
    await read("series/latency_seconds_bucket", { agg: "p99", by: "job", step: "5m" });
    expect(queries().at(-1)).toBe(
      'histogram_quantile(0.99, sum by (le,job) (rate({__name__="latency_seconds_bucket"}[5m])))',
    );
  });

  it.each([
    { range: "yesterday" },
    { range: "2026-01-02T00:00:00Z/2026-01-01T00:00:00Z" },
    { step: "0" },
    { step: "-1m" },
    { agg: "sum(up) or vector(1)" },
    { by: "job" },
    { agg: "sum", by: "," },
    { where: "job" },
    { format: "html" },
  ])("requested with %o is rejected before the server is called", async (query) => {
    expect(await refusalOf(read("series/up", query as unknown as Record<string, string>))).toMatchObject({
      kind: "invalid",
    });
    expect(queries()).toEqual([]);
  });

  it("that does not exist is not found, and neither is anything below it", async () => {
    for (const path of ["series/nope", "series/", "series/up/x", "query/x"])
      expect(await refusalOf(read(path)), path).toMatchObject({ kind: "not-found" });
  });
});

const manySeries = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ metric: { i: String(index) }, value: () => "1" }));
const stepOf = (part: Part) => (part.meta!["pressmark/metrics"] as { readonly step: number }).step;

describe("the limit of points", () => {
  it("determines the step: longer for more series and for longer ranges", async () => {
    expect(stepOf(await read("series/up", { range: "1h" }))).toBe(15);
    expect(stepOf(await read("series/up", { range: "30d" }))).toBe(600);
    server.series = manySeries(50);
    const part = await read("series/up", { range: "1h" });
    expect(stepOf(part)).toBe(60);
    expect(part.meta!["pressmark/metrics"]).toMatchObject({ series: 50, points: 50 * 61 });
  });

  it("applies to series that did not exist when they were counted", async () => {
    server.series = manySeries(80);
    const overRange = server.answers.get("query_range")!;
    server.answers.set("query_range", (requested, response) => {
      if (!requested.params.get("query")?.startsWith("count(")) return overRange(requested, response);
      return { resultType: "matrix", result: [{ metric: {}, values: [[0, "1"]] }] };
    });
    const part = await read("series/up", { range: "1h" });
    const { points, step } = part.meta!["pressmark/metrics"] as { points: number; step: number };
    expect(points).toBeLessThanOrEqual(5000);
    expect(step).toBe(60);
    const { data } = JSON.parse(part.text) as { data: { result: { values: [number, string][] }[] } };
    const times = data.result[0]!.values.map(([seconds]) => seconds);
    expect(new Set(times.slice(1).map((each, index) => each - times[index]!))).toEqual(new Set([60]));
  });

  it("rejects a step that is too short, and names a possible one", async () => {
    const refused = await refusalOf(read("series/up", { range: "1d", step: "1s", agg: "sum" }));
    expect(refused).toMatchObject({
      kind: "too-large",
      message: "86401 points exceed the limit of 5000; use step=20s, or a shorter range",
      details: { template: seriesTemplate, ranges: ["range=1d&agg=sum&step=20s"] },
    });
  });

  it("rejects too many series, and says how to request fewer", async () => {
    server.series = manySeries(101);
    expect(await refusalOf(read("series/up"))).toMatchObject({
      kind: "too-large",
      message: expect.stringMatching(/^"up" has 101 series; the limit is 100; .*agg=sum/),
      details: { series: 101, limit: 100 },
    });
    // The points themselves were never requested.
    expect(queries()).toHaveLength(1);
  });
});

describe("credentials", () => {
  const secret = "planted-secret-4711";

  it.each([
    [{ token: `${secret}\n` }, `Bearer ${secret}`],
    [{ username: "me", password: secret }, `Basic ${Buffer.from(`me:${secret}`).toString("base64")}`],
  ])("are sent as the server needs them", async (given, expected) => {
    await read("alerts", undefined, { ...given, headers: { "X-Scope-OrgID": "team" } });
    const { headers } = server.asked[0]!.request;
    expect([headers.authorization, headers["x-scope-orgid"]]).toEqual([expected, "team"]);
  });

  it("are in no error, whatever goes wrong", async () => {
    const errors: ResourceError[] = [];
    for (const status of [301, 400, 401, 403, 404, 418, 429, 500, 503]) {
      server.answers.set("alerts", failing(status, "x", "no"));
      errors.push(await refusalOf(read("alerts", undefined, { token: secret })));
    }
    errors.push(await refusalOf(read("alerts", undefined, { token: secret, url: "http://127.0.0.1:9" })));
    const opened = (options: Partial<MetricsOptions>) => refusalOf((async () => open(options))());
    errors.push(await opened({ token: `${secret}\nX: y` }), await opened({ url: `http://me:${secret}@host` }));
    errors.push(await opened({ token: secret, username: "me", password: secret }), await opened({ password: secret }));
    errors.push(await opened({ headers: { "X-Key": `${secret}\u0000` } }));
    for (const each of errors) {
      expect(each).toBeInstanceOf(ResourceError);
      expect(logLine("error", each.message, { cause: each, deeper: each.cause, details: each.details })).not.toContain(
        secret,
      );
    }
  });

  it("are not sent to a redirect", async () => {
    server.answers.set("alerts", (_, response) => void response.writeHead(302, { Location: "/api/v1/targets" }).end());
    expect(await refusalOf(read("alerts", undefined, { token: secret }))).toMatchObject({ kind: "unavailable", passing: false }); // prettier-ignore
    expect(server.asked).toHaveLength(1);
  });
});
