import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../../errors.ts";
import { createRuntime } from "../../server/runtime.ts";
import metrics, { createMetrics, type MetricsOptions } from "../metrics.ts";
import { createApi } from "./api.ts";
import { type Responder, failing, startTestServer } from "./test-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const server = await startTestServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

function open(options: Partial<MetricsOptions> = {}) {
  const given = { ...metrics.options(z).parse({ url: server.url }), ...options };
  return createMetrics(given, createRuntime({ write: () => true }));
}
const up = { path: "query", query: { promql: "up", step: "1m" } };
async function refusalOf(requested: Promise<unknown>): Promise<ResourceError> {
  return requested.then(
    () => expect.fail("it was answered"),
    (cause: unknown) => cause as ResourceError,
  );
}
const saying =
  (status: number, body: string): Responder =>
  (_, response) =>
    void response.writeHead(status).end(body);

describe("a server", () => {
  it.each([
    [
      "rejects the query",
      failing(400, "bad_data", 'invalid parameter "query": 1:4: parse error: x\ny'),
      { kind: "invalid", message: "the metrics server rejects the query: 1:4: parse error: x y" },
    ],
    [
      "finds it too much",
      failing(422, "execution", "query processing would load too many samples into memory"),
      { kind: "too-large" },
    ],
    ["does not know us", failing(401, "", ""), { kind: "denied" }],
    ["does not let us", saying(403, "<html>"), { kind: "denied" }],
    [
      "speaks another language",
      saying(404, "not found"),
      {
        kind: "unavailable",
        passing: false,
        message: "the metrics server has no Prometheus API there (404); check the path of the url",
      },
    ],
    ["asks for patience", saying(429, ""), { kind: "busy", passing: true }],
    ["is overloaded", failing(503, "timeout", "query timed out"), { kind: "unavailable", passing: true }],
    ["is broken", saying(500, "oops"), { kind: "unavailable", passing: true }],
    ["leads elsewhere", saying(307, ""), { kind: "unavailable", passing: false }],
    ["says nothing", saying(200, ""), { kind: "unavailable" }],
    ["says half", saying(200, '{"status":"success","data":{"resu'), { kind: "unavailable" }],
    [
      "says something else",
      saying(200, "<html>It works!</html>"),
      {
        kind: "unavailable",
        message: "the response of the metrics server is not from the Prometheus API; check the url",
      },
    ],
    ["says that it failed", saying(200, '{"status":"error","error":"x"}'), { kind: "unavailable" }],
    ["gives what was not asked for", () => ({ resultType: "vector", result: [] }), { kind: "unavailable" }],
    [
      "hangs up",
      (_: unknown, response: ServerResponse) => void response.destroy(),
      { kind: "unavailable", passing: true },
    ],
  ] as [string, Responder, object][])("that %s is reported", async (_what, answer, expected) => {
    // prettier-ignore
    server.answers.set("query_range", answer);
    const refused = await refusalOf(open().read(up, call));
    expect(refused).toBeInstanceOf(ResourceError);
    expect(refused).toMatchObject(expected);
  });

  it("that does not exist is unavailable, and so is one that does not respond", async () => {
    const gone = await startTestServer();
    gone.close();
    expect(await refusalOf(open({ url: gone.url }).read(up, call))).toMatchObject({
      kind: "unavailable",
      passing: true,
      message: "the metrics server cannot be reached (ECONNREFUSED)",
    });
    server.answers.set("query_range", () => undefined);
    const late = { kind: "unavailable", message: "the metrics server did not respond within 50 ms" };
    expect(await refusalOf(open({ timeoutMs: 50 }).read(up, call))).toMatchObject(late);
    server.answers.set("query_range", (_, response) => void response.write('{"status":'));
    expect(await refusalOf(open({ timeoutMs: 50 }).read(up, call))).toMatchObject(late);
  });

  it("is no longer called when the caller cancels", async () => {
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    server.answers.set("query_range", ({ request }) => {
      request.socket.once("close", () => closed.resolve());
      stop.abort();
    });
    expect(await refusalOf(open().read(up, { ...call, signal: stop.signal }))).toMatchObject({ kind: "cancelled" });
    await closed.promise;
  });

  it("gets long queries with POST", async () => {
    const promql = `up + ${"1 + ".repeat(1000)}1`;
    await open().read({ path: "query", query: { promql, step: "1m" } }, call);
    const { request, params } = server.asked.at(-1)!;
    expect([request.method, params.get("query")]).toEqual(["POST", promql]);
  });

  it.each(["/", "/prometheus", "/prometheus/", "/prometheus/api/v1"])("is called below %s", async (path) => {
    await open({ url: `${server.url}${path}` }).read(up, call);
    const below = path.replace(/\/(?:api\/v1)?$/, "");
    expect(server.asked.at(-1)!.request.url).toMatch(new RegExp(`^${below}/api/v1/query_range\\?`));
  });
});

describe("a server without alerts, targets or metadata", () => {
  const without = [saying(404, "404 page not found"), saying(405, ""), saying(501, ""), saying(400, "unsupported path requested: /x")]; // prettier-ignore

  it.each(without)("serves the rest, and reports what is missing", async (missing) => {
    for (const endpoint of ["alerts", "targets", "metadata"]) server.answers.set(endpoint, missing);
    const source = open();
    expect((await source.list({ limit: 10 }, call)).items.map(({ path }) => path)).toEqual(["series"]);
    expect(await refusalOf(source.read({ path: "alerts" }, call))).toMatchObject({
      kind: "unsupported",
      message: "the metrics server has no alerts: /api/v1/alerts is missing",
    });
    const [catalogue] = await source.read({ path: "series" }, call);
    expect(catalogue!.body).toMatchObject({ text: expect.stringContaining("gives no metadata for its metrics") });
    expect(await source.read({ path: "series/up" }, call)).toHaveLength(1);
    expect((await source.problems!(call)).map(({ says }) => says)).toEqual([
      "cannot show alerts: its server has no /api/v1/alerts",
      "cannot show targets: its server has no /api/v1/targets",
      "cannot show types and texts of metrics: its server has no /api/v1/metadata",
    ]);
  });

  it("differs from one that fails temporarily", async () => {
    server.answers.set("alerts", failing(503, "unavailable", "not ready"));
    const source = open();
    expect(await refusalOf(source.list({ limit: 10 }, call))).toMatchObject({ kind: "unavailable" });
    server.reset();
    expect((await source.list({ limit: 10 }, call)).items).toHaveLength(3);
  });
});

const problemsAt = async (url: string, more: Partial<MetricsOptions>) => {
  const options = { ...metrics.options(z).parse({ url }), ...more };
  const api = createApi({ ...options, url: server.url });
  return createMetrics(options, createRuntime({ write: () => true }), api).problems!(call);
};

it("credentials sent without encryption are reported to the administrator", async () => {
  expect(await problemsAt("http://metrics.example", { token: "t" })).toEqual([
    { path: "", says: "sends its credentials over plain http", advice: "use https:// in its url" },
  ]);
  expect(await problemsAt("http://metrics.example", {})).toEqual([]);
  expect(await problemsAt("https://metrics.example", { token: "t" })).toEqual([]);
  expect(await problemsAt("http://127.0.0.1", { username: "u", password: "p" })).toEqual([]);
});

it("histogram values are returned as JSON, and rejected where they cannot be drawn", async () => {
  const histograms = [[1, { count: "3", sum: "6", buckets: [] }]];
  server.answers.set("query_range", () => ({ resultType: "matrix", result: [{ metric: { a: "b" }, histograms }] }));
  const [part] = await open().read(up, call);
  expect(JSON.parse((part!.body as { text: string }).text)).toMatchObject({ data: { result: [{ histograms }] } });
  const drawn = open().read({ path: "query", query: { ...up.query, format: "svg" } }, call);
  expect(await refusalOf(drawn)).toMatchObject({ kind: "unsupported", message: expect.stringContaining("agg=p95") });
});

it("invalid data of a server is dropped", async () => {
  const values = [[1, "1"], [2, 3], "x", [4], null, [5, "5", { secret: 1 }]]; // prettier-ignore
  const result = [{ metric: { a: "b", c: 4 }, values }, null, "x", { values: 7 }];
  server.answers.set("query_range", () => ({ resultType: "matrix", result }));
  const [part] = await open().read(up, call);
  expect(JSON.parse((part!.body as { text: string }).text)).toMatchObject({
    data: {
      result: [
        { metric: { a: "b" }, values: [[1, "1"]] },
        { metric: {}, values: [] },
      ],
    },
  });
});
