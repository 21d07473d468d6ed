import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../server/runtime.ts";
import metrics, { createMetrics, type MetricsOptions } from "../metrics.ts";
import { queryTemplate, seriesTemplate } from "./metrics-request.ts";
import { createLabelMasking, personalLabels } from "./label-masking.ts";
import { failing, startTestServer } from "./test-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const server = await startTestServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const person = "203.0.113.7";
const mail = "someone@example.com";

function open(options: Partial<MetricsOptions> = {}) {
  const given = { ...metrics.options(z).parse({ url: server.url }), ...options };
  return createMetrics(given, createRuntime({ write: () => true }));
}
async function textAt(
  path: string,
  query?: Record<string, string>,
  options?: Partial<MetricsOptions>,
): Promise<string> {
  const [part] = await open(options).read(query ? { path, query } : { path }, call);
  return JSON.stringify(part);
}

describe("personal labels", () => {
  it("are replaced by pseudonyms, the same for the same value, in every operation", async () => {
    server.series = ["a", "b"].map((job) => ({
      metric: { __name__: "up", client_ip: person, job, seen_by: mail },
      value: () => "1",
    }));
    server.alerts = [
      {
        labels: { alertname: "Many", client_ip: person },
        annotations: { summary: `too many requests from ${person}` },
        state: "firing",
        activeAt: "2026-01-01T00:00:00Z",
        value: "1e+00",
      },
    ];
    server.targets = [
      {
        labels: { instance: "10.0.0.1:9100", user: mail },
        discoveredLabels: { __meta_secret: person },
        scrapeUrl: "http://me:pass@10.0.0.1:9100/metrics?token=abc",
        lastError: `Get "http://10.0.0.1:9100/metrics?token=abc": refused for ${mail}`,
        health: "down",
      },
    ];
    const texts = await Promise.all([
      ...["json", "csv", "svg"].map((format) => textAt("series/up", { format })),
      textAt("query", { promql: "up" }),
      textAt("alerts"),
      textAt("targets"),
    ]);
    for (const text of texts) for (const secret of [person, mail, "token", "pass@"]) expect(text).not.toContain(secret);
    for (const text of texts) expect(text).toContain("redacted-");
    expect(texts.at(-1)).toContain("10.0.0.1:9100");
    const marks = new Set([...texts[0]!.matchAll(/client_ip\\":\\"(redacted-\w+)/g)].map(([, mark]) => mark));
    expect(marks.size).toBe(1);
  });

  it.each([
    ["series/up", { where: `client_ip=${person}` }],
    ["series/up", { agg: "sum", by: "client_ip" }],
    ["query", { promql: `up{client_ip="${person}"}` }],
    ["query", { promql: "count by (client_ip) (up)" }],
    ["query", { promql: 'label_replace(up, "x", "$1", "client_ip", "(.*)")' }],
    ["query", { promql: "up * on(job) group_left(client_ip) up" }],
  ])("cannot be used in a query: %s %o", async (path, query) => {
    await expect(textAt(path, query)).rejects.toMatchObject({ kind: "invalid", message: expect.stringMatching(/"client_ip" is hidden/) }); // prettier-ignore
    expect(server.asked.filter(({ endpoint }) => endpoint.startsWith("query"))).toEqual([]);
  });

  it.each([
    ["label_replace", `label_replace(up, "instance", "$1", "seen_by", "(.*)")`],
    ["label_join", `label_join(up, "le", "", "seen_by")`],
    ["what others have", `label_copy(up, "seen_by", "quantile")`],
  ])("cannot be copied to a label that is shown unchanged, by %s", async (_, promql) => {
    await expect(textAt("query", { promql })).rejects.toMatchObject({ kind: "invalid" });
    expect(await textAt("query", { promql: 'label_replace(up, "instance", "$1", "instance", "(.*):.*")' })).toContain("success"); // prettier-ignore
  });

  it("cannot be queried by their addresses under any label", async () => {
    for (const value of [person, mail])
      await expect(textAt("series/up", { where: `seen_by=${value}` })).rejects.toMatchObject({ kind: "invalid" });
    expect(await textAt("series/up", { where: "instance=10.0.0.1:9100" })).toContain("success");
    expect(await textAt("series/up", { where: `job=${person}` }, { labels: ["job"] })).toContain("success");
  });

  it("cannot be named in pieces, which some servers concatenate", async () => {
    await expect(textAt("query", { promql: 'label_copy(up, "remote_" + "addr", "x")' })).rejects.toMatchObject({ kind: "invalid" }); // prettier-ignore
    expect(await textAt("query", { promql: 'up{job="a"} + up{job="b"}' })).toContain("success");
  });

  it("do not appear in the error text of a server", async () => {
    const series = `{__name__="up", client_ip="${person}", job="a", "odd.email"="x", note="${mail}"}`;
    const result = failing(
      422,
      "execution",
      `found duplicate series for the match group {job="a"}: [${series}, ${series.slice(0, 40)}`,
    );
    server.answers.set("query_range", result);
    const stated = await textAt("query", { promql: "up * on(job) up" }).catch((cause: Error) => cause.message);
    expect(stated).toMatch(/duplicate series for the match group \{job="a"\}: \[\{__name__="up", client_ip="redacted-/);
    expect(stated).not.toMatch(/203\.0|someone@/);
    const warned = { status: "success", data: { resultType: "matrix", result: [] }, warnings: [`odd: ${series}`] };
    server.answers.set("query_range", (_, response) => void response.end(JSON.stringify(warned)));
    expect(await textAt("query", { promql: "up" })).not.toMatch(/203\.0|someone@/);
  });

  it("are not suggested, and neither are their values", async () => {
    const source = open();
    const request = async (template: string, variable: string, value: string) =>
      (
        await source.complete!(
          {
            template: source.templates!.find((each) => each.template === template)!,
            variable,
            value,
            given: { name: "up" },
          },
          call,
        )
      ).map((each) => each.value);
    expect(await request(seriesTemplate, "by", "")).toEqual(["instance", "job"]);
    expect(await request(seriesTemplate, "where", "client_ip=")).toEqual([]);
    expect(await request(seriesTemplate, "where", "instance=b")).toEqual([String.raw`instance=b\,c`]);
    expect(await request(queryTemplate, "promql", 'up{client_ip="')).toEqual([]);
    expect(await request(queryTemplate, "promql", "up{")).toEqual(["up{instance", "up{job"]);
  });
});

describe("an allow-list of labels", () => {
  const { clean, cleanText, maySee } = createLabelMasking({ labels: ["job", "code*"], redact: personalLabels });

  it("hides all others, except those that distinguish series", () => {
    const labels = { __name__: "up", job: "10.0.0.1", code_class: "2xx", instance: "a:1", le: "+Inf" };
    expect(clean(labels)).toEqual({ __name__: "up", job: "10.0.0.1", code_class: "2xx", le: "+Inf" });
    expect(cleanText("a:1 of 2xx is down", labels)).toBe("… of 2xx is down");
    expect(["job", "instance", "__name__"].map(maySee)).toEqual([true, false, true]);
    expect(cleanText("a and ab", { x: "abc", y: "a and ab", z: "a and" })).toBe("…");
  });

  it("applies to the addresses of targets, too", async () => {
    const labels = { instance: "db-7.internal:9100", job: "a" };
    server.targets = [{ labels, scrapeUrl: "http://db-7.internal:9100/metrics", health: "up" }];
    expect(await textAt("targets", undefined, { labels: ["job"] })).not.toContain("db-7");
  });

  it("applies to queries, even if a label is only copied", async () => {
    const only = { labels: ["job"] };
    await expect(textAt("query", { promql: 'label_replace(up, "job", "$1", "instance", "(.*)")' }, only)).rejects.toThrow('"instance" is hidden'); // prettier-ignore
    expect(await textAt("query", { promql: 'sum by (job) (up{job=~"a|b"})' }, only)).toContain("success");
  });
});

it("no personal address is shown under another name, and other texts stay unchanged", () => {
  const { cleanValue } = createLabelMasking({ labels: [], redact: [] });
  for (const value of [person, `${person}:443`, "2001:db8::1", "[2001:db8::1]:80", mail])
    expect(cleanValue("path", value), value).toMatch(/^redacted-[0-9a-f]{8}$/);
  for (const value of ["1.2.3", "v1.2.3.4", "10.0.0.0/8", "a@b", "12:30", "", "/metrics", "eth0"])
    expect(cleanValue("path", value), value).toBe(value);
  expect(cleanValue("instance", "10.0.0.1:9100")).toBe("10.0.0.1:9100");
});
