/** The metrics source against a real Prometheus, which measures a node-exporter and a Pressmark. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ResourceError } from "../../src/errors.ts";
import { openServer } from "../../src/server/open-server.ts";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";
import { createRuntime, logLine } from "../../src/server/runtime.ts";
import type { Source, SourceChange } from "../../src/source.ts";
import metrics, { createMetrics, type MetricsOptions } from "../../src/sources/metrics.ts";
import { queryTemplate, seriesTemplate } from "../../src/sources/metrics/metrics-request.ts";
import { type TestListener, collectChanges } from "../../src/testing/listen.ts";
import { sourceContract } from "../../src/testing/source-contract.ts";
import {
  hasPrometheus,
  type NodeExporter,
  type Prometheus,
  prometheusPackages,
  startNodeExporter,
  startPrometheus,
} from "./prometheus.ts";

const isThere = "CI" in process.env || hasPrometheus();
const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });

let folder: string;
let pressmark: HttpServer;
let node: NodeExporter;
let prometheus: Prometheus;
let source: Source;

function open(options: Partial<MetricsOptions> = {}): Source {
  return createMetrics({ ...metrics.options(z).parse({ url: prometheus.url }), intervalMs: 1000, ...options }, quiet);
}

async function read(path: string, query?: Record<string, string>, from = source): Promise<string> {
  const [part] = await from.read(query ? { path, query } : { path }, call);
  return part && "text" in part.body ? part.body.text : "";
}

interface Answered {
  readonly data: {
    readonly result: readonly {
      readonly metric: Record<string, string>;
      readonly values: readonly [number, string][];
    }[];
  };
}

async function matrix(path: string, query?: Record<string, string>): Promise<Answered["data"]["result"]> {
  return (JSON.parse(await read(path, query)) as Answered).data.result;
}

async function refusalOf(asked: Promise<unknown>): Promise<ResourceError> {
  return asked.then(
    () => expect.fail("it was answered"),
    (cause: unknown) => cause as ResourceError,
  );
}

/** Asks until it is so: Prometheus announces nothing. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const rule = (expression: string) =>
  `groups: [{ name: test, rules: [{ alert: Test, expr: '${expression}', annotations: { summary: 'it is {{ $value }}' } }] }]\n`;

describe.skipIf(!isThere)(
  `metrics (skipped where there is no Prometheus; Debian has it: ${prometheusPackages})`,
  () => {
    beforeAll(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-measured-")));
      writeFileSync(join(folder, "a.md"), "A");
      const env = { XDG_STATE_HOME: join(folder, ".state"), XDG_CACHE_HOME: join(folder, ".cache"), HOME: folder };
      const err = { write: () => true };
      pressmark = await startHttp({ folders: [], from: folder, env, err, allowedHosts: [], version: "1", port: 0 });
      node = await startNodeExporter();
      const targets = { node: node.target, pressmark: new URL(pressmark.url).host };
      prometheus = await startPrometheus({ targets, rules: rule("vector(0) > 1") });
      await until("samples of both", async () => {
        source = open();
        const counted = await matrix("query", { promql: "count_over_time(up[1m]) >= 3", range: "1s" });
        return counted.length === 2;
      });
    });
    afterAll(async () => {
      await prometheus?.close();
      await node?.stop();
      await pressmark?.close();
      if (folder) rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(() => {
      source = open();
    });
    afterEach(() => source.close!());

    sourceContract("metrics", {
      abilities: ["stat", "children", "templates", "complete", "search", "watch"],
      content: { alerts: undefined, series: undefined, targets: undefined },
      open: async () => open(),
      followed: "series/node_load1",
      // New samples come by themselves.
      change: () => [{ kind: "changed", path: "series/node_load1" }],
      expansions: [
        { at: { path: "series/node_load1" } },
        {
          at: {
            path: "series/node_cpu_seconds_total",
            query: { agg: "sum.rate", by: "mode", format: "svg", range: "5m" },
          },
        },
        { at: { path: "query", query: { promql: "up", range: "1m", step: "5s", format: "csv" } } },
        { at: { path: "series", query: { match: "pressmark_*" } } },
      ],
      completions: [
        { template: seriesTemplate, variable: "name", value: "node_lo", expected: "node_load15" },
        {
          template: seriesTemplate,
          variable: "by",
          value: "mode,c",
          given: { name: "node_cpu_seconds_total" },
          expected: "mode,cpu",
        },
        {
          template: seriesTemplate,
          variable: "where",
          value: "mode=i",
          given: { name: "node_cpu_seconds_total" },
          expected: "mode=idle",
        },
        {
          template: queryTemplate,
          variable: "promql",
          value: "sum(pressmark_sess",
          expected: "sum(pressmark_sessions",
        },
        { template: queryTemplate, variable: "promql", value: 'up{job="pre', expected: 'up{job="pressmark"' },
      ],
      findable: { text: "load average", path: "series/node_load1" },
      timeoutMs: 60_000,
    });

    it("has a catalogue of what both targets say of themselves", async () => {
      const { metrics: all } = JSON.parse(await read("series")) as { metrics: { name: string }[] };
      expect(all).toEqual(
        expect.arrayContaining([
          { name: "node_load1", type: "gauge", help: "1m load average." },
          { name: "node_cpu_seconds_total", type: "counter", help: expect.any(String), unit: "seconds" },
          { name: "process_resident_memory_bytes", type: "gauge", help: expect.any(String), unit: "bytes" },
          { name: "pressmark_index_documents", type: "gauge", help: "Documents in the search index." },
        ]),
      );
    });

    it("finds nothing to say against what Pressmark says of itself", async () => {
      const input = await (await fetch(new URL("/metrics", pressmark.url))).text();
      const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
    });

    it("measures what it is asked itself: its own requests come back as a rate and as a quantile", async () => {
      const ask = { jsonrpc: "2.0", id: 1, method: "ping" };
      const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
      const name = "pressmark_request_duration_seconds_bucket";
      await until("a rate of requests", async () => {
        await fetch(pressmark.url, { method: "POST", headers, body: JSON.stringify({ ...ask, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } }) }); // prettier-ignore
        const quantiles = await matrix(`series/${name}`, { agg: "p95", by: "method", range: "10s" });
        return quantiles.some(
          ({ metric, values }) => metric["method"] === "initialize" && Number(values.at(-1)?.[1]) > 0,
        );
      });
      const [rate] = await matrix("series/pressmark_requests_total", { agg: "sum.rate", by: "job", range: "10s" });
      expect(rate!.metric).toEqual({ job: "pressmark" });
      expect(Number(rate!.values.at(-1)![1])).toBeGreaterThan(0);
    });

    it("gives one series as JSON, as a table and as a picture", async () => {
      const query = { range: "5s", where: "job=node" };
      const [series, ...others] = await matrix("series/up", query);
      expect(others).toEqual([]);
      expect(series!.metric).toEqual({ __name__: "up", job: "node", instance: node.target });
      expect(series!.values.at(-1)![1]).toBe("1");
      const csv = await read("series/up", { ...query, format: "csv" });
      expect(csv).toMatch(
        /^time,"up\{instance=""127\.0\.0\.1:\d+"",job=""node""\}"\n(?:\d{4}-\d\d-\d\dT[\d:.]+Z,1\n)+$/,
      );
      expect(await read("series/up", { ...query, format: "svg" })).toMatch(
        /^<svg [\s\S]*<path class="line c0"[\s\S]*<\/svg>\n$/,
      );
    });

    it("gives the last point now, and no more points than the budget has", async () => {
      const few = open({ maxPoints: 60 });
      const [part] = await few.read({ path: "series/node_cpu_seconds_total", query: { range: "1h", where: "mode!=idle", agg: "max", by: "mode" } }, call); // prettier-ignore
      const { points, step, end } = part!.meta!["pressmark/metrics"] as { points: number; step: number; end: string };
      expect(points).toBeLessThanOrEqual(60);
      expect(step).toBeGreaterThanOrEqual(300);
      const { data } = JSON.parse((part!.body as { text: string }).text) as Answered;
      for (const { values } of data.result) expect(values.at(-1)![0] * 1000).toBe(Date.parse(end));
    });

    it.each([
      ["bad PromQL", "sum by (job) up", "invalid", /parse error/],
      ["an unknown function", "nope(up)", "invalid", /unknown function/],
      ["more series than the cap", '{__name__=~".+"}', "too-large", /series; the limit is 100/],
    ])("has a clear answer for %s", async (_what, promql, kind, message) => {
      expect(await refusalOf(read("query", { promql, range: "1m" }))).toMatchObject({
        kind,
        message: expect.stringMatching(message),
      });
    });

    it("does not tell in an error what it would not show", async () => {
      const promql = "node_cpu_seconds_total * on(cpu) node_cpu_seconds_total";
      const shown = await refusalOf(read("query", { promql, range: "1m" }));
      expect(shown).toMatchObject({ kind: "invalid", message: expect.stringMatching(/mode="[a-z]/) });
      const closed = await refusalOf(read("query", { promql, range: "1m" }, open({ redactLabels: ["mode"] })));
      expect(closed.message).toMatch(/mode="redacted-/);
      expect(closed.message).not.toMatch(/idle|iowait|user|system/);
    });

    it("has a clear answer for no data", async () => {
      const text = await read("series/up", { range: "2020-01-01/2020-01-02" });
      expect(JSON.parse(text)).toEqual({
        status: "success",
        data: { resultType: "matrix", result: [] },
        infos: ["no data between 2020-01-01T00:00:00.000Z and 2020-01-02T00:00:00.000Z"],
      });
      expect(await read("query", { promql: "up > 9", format: "svg" })).toContain("no data in this range");
    });

    it("answers a number, a comment at the end, and a name in quotes", async () => {
      expect((await matrix("query", { promql: "1 + 1", range: "10s" }))[0]!.values.at(-1)![1]).toBe("2");
      expect(await matrix("query", { promql: "up # all of them", range: "1h" })).toHaveLength(2);
      expect(await matrix("query", { promql: '{__name__="up",job=`node`}', range: "1h" })).toHaveLength(1);
    });

    it("says who is measured, without more than that", async () => {
      const { data } = JSON.parse(await read("targets")) as { data: { activeTargets: Record<string, unknown>[] } };
      expect(data.activeTargets.map(({ labels, health }) => ({ labels, health }))).toEqual(
        expect.arrayContaining([
          { labels: { job: "node", instance: node.target }, health: "up" },
          { labels: { job: "pressmark", instance: new URL(pressmark.url).host }, health: "up" },
        ]),
      );
      expect(JSON.stringify(data)).not.toContain("__address__");
    });

    describe("while someone listens", () => {
      let stop: AbortController;
      let heard: TestListener<SourceChange>;
      beforeEach(() => {
        stop = new AbortController();
      });
      afterEach(async () => {
        stop.abort();
        await heard.ended;
      });
      const begin = async (...paths: string[]) => {
        source = open({ pollMs: 100 });
        const listening = { ...call, signal: stop.signal };
        for (const path of paths) await source.follow!({ path }, listening);
        heard = collectChanges(await source.watch!(listening));
      };
      const told = (path: string, after = 0) =>
        heard.until(
          () => heard.heard.slice(after).some((change) => change.kind === "changed" && change.path === path),
          path,
        );

      it("tells new samples", async () => {
        await begin("series/up");
        const before = (await matrix("query", { promql: "max(timestamp(up))", range: "1s" }))[0]!.values.at(-1)![1];
        await told("series/up");
        const after = (await matrix("query", { promql: "max(timestamp(up))", range: "1s" }))[0]!.values.at(-1)![1];
        expect(Number(after)).toBeGreaterThanOrEqual(Number(before));
        expect(heard.heard.every((change) => change.kind === "changed" && change.path === "series/up")).toBe(true);
      });

      it("tells that an alert fires, and that it is over", async () => {
        await begin("alerts");
        await prometheus.reload(rule("vector(2) > 1"));
        await told("alerts");
        await until("the alert", async () => (await read("alerts")).includes('"state":"firing"'));
        expect(JSON.parse(await read("alerts"))).toMatchObject({
          data: { alerts: [{ labels: { alertname: "Test" }, annotations: { summary: "it is 2" }, state: "firing" }] },
        });
        const count = heard.heard.length;
        await prometheus.reload(rule("vector(0) > 1"));
        await told("alerts", count);
        await until("its end", async () => !(await read("alerts")).includes("firing"));
      });

      it("goes on when Prometheus was stopped and is started again", async () => {
        await begin("series/up", "targets");
        await told("series/up");
        await prometheus.stop();
        expect(await refusalOf(read("series/up"))).toMatchObject({
          kind: "unavailable",
          passing: true,
          message: "the metrics server cannot be reached (ECONNREFUSED)",
        });
        const count = heard.heard.length;
        await prometheus.start();
        await told("series/up", count);
        // What was measured before is still there, and more comes.
        const [counted] = await matrix("query", { promql: 'count_over_time(up{job="node"}[1h])', range: "1s" });
        expect(Number(counted!.values.at(-1)![1])).toBeGreaterThan(3);
      });
    });

    it("is subscribed to through a server, across a stop of Prometheus", async () => {
      const config = join(folder, "metrics.yaml");
      writeFileSync(config, `mounts: { m: { source: metrics, url: "${prometheus.url}", intervalMs: 1000 } }\n`);
      const env = { XDG_STATE_HOME: join(folder, ".state"), XDG_CACHE_HOME: join(folder, ".cache"), HOME: folder };
      const runningPressmark = await openServer({ folders: [], config, from: folder, env, err: { write: () => true } });
      const stop = new AbortController();
      try {
        const uris = [
          "metrics://series/up?range=1m&format=svg",
          "metrics://query?promql=sum(up)",
          "metrics://series/nope",
        ];
        const watch = await runningPressmark.resources.watch({ uris }, { ...call, signal: stop.signal });
        expect(watch.uris).toEqual(uris.slice(0, 2));
        const heard = collectChanges(watch);
        const told = (after: number) =>
          heard.until(
            () => heard.heard.slice(after).some((change) => change.kind === "updated" && change.uri === uris[0]),
            "new samples",
          );
        await told(0);
        await prometheus.stop();
        const count = heard.heard.length;
        await prometheus.start();
        await told(count);
      } finally {
        stop.abort();
        await runningPressmark.close();
      }
    });

    it("signs in with a password, which no error tells", async () => {
      // "planted-secret" as bcrypt writes it.
      const users = { reader: "$2b$05$abcdefghijklmnopqrstuuXs.k5mDrF5z11SX84JkvXLZvkAq6Q7C" };
      const closed = await startPrometheus({ targets: { node: node.target }, users });
      try {
        const signedIn = open({ url: closed.url, username: "reader", password: "planted-secret" });
        expect((await signedIn.list({ limit: 10 }, call)).items).toHaveLength(3);
        const refused = await refusalOf(
          open({ url: closed.url, username: "reader", password: "wrong-secret" }).list({ limit: 1 }, call),
        );
        expect(refused).toMatchObject({
          kind: "denied",
          message: expect.stringContaining("rejects the credentials"),
        });
        expect(logLine("error", refused.message, { cause: refused, deeper: refused.cause })).not.toContain("secret");
      } finally {
        await closed.close();
      }
    });
  },
);
