import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { listInstances } from "../state/instances.ts";
import { useDatabase } from "../state/test-database.ts";
import { startStdio } from "./start-stdio.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { startTraceReceiver } from "./test-trace-receiver.ts";
import { tracingTarget } from "./tracing-target.ts";

const database = useDatabase();
const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const server = 2;
const failed = 2;

let root: string;
let log: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-tracing-")));
  writeFileSync(join(root, "secret-name.md"), "A");
  log = "";
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Started extends HttpServer {
  /** Sends what is left of the traces. */
  end(): Promise<void>;
}

async function start(
  config: object,
  env: Record<string, string> = {},
  folders: readonly string[] = [],
): Promise<Started> {
  const folder = mkdtempSync(join(root, ".server-"));
  const file = join(folder, "pressmark.config.json");
  writeFileSync(file, JSON.stringify(config));
  const started = await startHttp({
    folders,
    ...(folders.length === 0 && { config: file }),
    from: folder,
    env: { XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder, HOME: folder, ...env },
    err: { write: (line: string) => ((log += line), true) },
    allowedHosts: [],
    version: "1.2.3",
    port: 0,
  });
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= started.close());
  onTestFinished(end);
  return Object.assign(started, { end });
}

const mounts = () => ({ notes: { source: "file", root } });
const uri = () => `file://${root}/secret-name.md`;

async function ask(url: string, method: string, params: Record<string, unknown>, headers: Record<string, string> = {}) {
  const { _meta: meta, ...rest } = params;
  const _meta = { ...(meta as object), [versionKey]: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof params["uri"] === "string" && { "Mcp-Name": params["uri"] }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...rest, _meta } }),
  });
  return response.text();
}

describe("tracing", () => {
  it("sends one span for each request, below that of the caller, and one for each call of a source", async () => {
    const receiver = await startTraceReceiver();
    const tracing = { endpoint: `${receiver.url}/base/`, headers: { "x-api-key": "k" } };
    const { url, end } = await start({ mounts: mounts(), server: { tracing } });
    const traceparent = `00-${trace}-${parent}-01`;
    expect(await ask(url, "resources/read", { uri: uri() }, { traceparent, tracestate: "a=1" })).toContain(
      '"text":"A"',
    );
    await ask(url, "resources/read", { uri: "file:///no/such" });
    await ask(url, "made-up/secret-name", {});
    await end();
    const [read, missing, other] = ["resources/read", "resources/read", "other"].map(
      (name, index) => receiver.spans.filter((span) => span.kind === server && span.name === name)[index % 2],
    );
    expect(read).toMatchObject({ traceId: trace, parentSpanId: parent, traceState: "a=1", status: { code: 0 } });
    expect(read?.attributes).toEqual({
      "mcp.method.name": "resources/read",
      "mcp.protocol.version": "2026-07-28",
      "pressmark.source": "file",
      "pressmark.outcome": "ok",
    });
    expect(read?.resource).toMatchObject({ "service.name": "pressmark", "service.version": "1.2.3" });
    expect(missing).toMatchObject({ status: { code: 0 }, attributes: { "pressmark.outcome": "invalid" } });
    expect(missing?.parentSpanId).toBeUndefined();
    expect(missing?.traceId).not.toBe(trace);
    expect(other?.attributes).toMatchObject({ "pressmark.outcome": "unknown-method" });
    const child = receiver.spans.find(({ name }) => name === "file read");
    expect(child).toMatchObject({ traceId: trace, parentSpanId: read?.spanId });
    expect(JSON.stringify(receiver.spans)).not.toMatch(/secret-name|notes|anonymous/);
    expect(receiver.headers[0]?.["x-api-key"]).toBe("k");
    expect(receiver.paths[0]).toBe("/base/v1/traces");
    expect(log).toBe("");
  });

  it("prefers the trace in _meta, ignores one that is not valid, and names URIs only if told to", async () => {
    const receiver = await startTraceReceiver();
    const { url, end } = await start({ mounts: mounts(), server: { tracing: { endpoint: receiver.url, uris: true } } });
    const header = { traceparent: `00-${"1".repeat(32)}-${parent}-01` };
    await ask(url, "resources/read", { uri: uri(), _meta: { traceparent: `00-${trace}-${parent}-01` } }, header);
    await ask(url, "resources/read", { uri: uri(), _meta: { traceparent: "wrong" } });
    // The caller does not sample this one.
    await ask(url, "resources/read", { uri: uri(), _meta: { traceparent: `00-${"2".repeat(32)}-${parent}-00` } });
    await end();
    const reads = receiver.spans.filter(({ kind }) => kind === server);
    expect(reads).toHaveLength(2);
    expect(reads[0]).toMatchObject({ traceId: trace, attributes: { "mcp.resource.uri": uri() } });
    expect(reads[1]?.parentSpanId).toBeUndefined();
  });

  it("continues at another server that a mount serves", async () => {
    const receiver = await startTraceReceiver();
    const tracing = { endpoint: receiver.url };
    const behind = await start({ mounts: mounts(), server: { tracing } });
    const front = await start({ mounts: { other: { source: "mcp", url: behind.url } }, server: { tracing } });
    const listed = await ask(front.url, "resources/list", {});
    const relayed = /"uri":"([^"]*secret-name[^"]*)"/.exec(listed)?.[1] ?? "";
    const read = await ask(front.url, "resources/read", {
      uri: relayed,
      _meta: { traceparent: `00-${trace}-${parent}-01` },
    });
    expect(read).toContain('"text":"A"');
    await front.end();
    await behind.end();
    const ofTrace = receiver.spans.filter(({ traceId }) => traceId === trace);
    const source = ofTrace.find(({ name }) => name === "mcp read");
    const there = ofTrace.filter(({ kind, name }) => kind === server && name === "resources/read").at(-1);
    expect(ofTrace.find(({ parentSpanId }) => parentSpanId === parent)).toMatchObject({ name: "resources/read" });
    expect(source).toBeDefined();
    expect(ofTrace.filter(({ parentSpanId }) => parentSpanId === source?.spanId)).toContainEqual(
      expect.objectContaining({ kind: server, name: "resources/read" }),
    );
    expect(there?.resource["service.instance.id"]).toBeDefined();
  });

  it.skipIf(database.missing)("names the instance as the shared state does", async () => {
    const receiver = await startTraceReceiver();
    const one = await start({
      server: { state: database.url(), tracing: { endpoint: receiver.url } },
      mounts: mounts(),
    });
    await ask(one.url, "resources/list", {});
    const [instance] = await listInstances(database.open());
    await one.end();
    expect(receiver.spans[0]?.resource["service.instance.id"]).toBe(instance!.id);
  });

  it("covers messages over stdio", async () => {
    const receiver = await startTraceReceiver();
    const [input, out] = [new PassThrough(), new PassThrough()];
    const env = { XDG_STATE_HOME: join(root, ".s"), XDG_CACHE_HOME: join(root, ".s"), HOME: root };
    const serving = startStdio({
      folders: [root],
      from: root,
      input,
      out,
      version: "1.2.3",
      signal: new AbortController().signal,
      err: { write: (line: string) => ((log += line), true) },
      env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "mine" },
    });
    const _meta = {
      traceparent: `00-${trace}-${parent}-01`,
      [versionKey]: "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    input.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: uri(), _meta } })}\n`,
    );
    for await (const chunk of out.setEncoding("utf8")) if (String(chunk).includes('"id":1')) break;
    input.end();
    await serving;
    expect(receiver.spans.find(({ kind }) => kind === server)).toMatchObject({
      traceId: trace,
      attributes: { "pressmark.source": "file" },
      resource: { "service.name": "mine" },
    });
  });

  it("does not disturb requests when the receiver fails, and logs that once, without its password", async () => {
    const receiver = await startTraceReceiver(400);
    const endpoint = receiver.url.replace("//", "//user:hidden-password@");
    const headers = { authorization: "Bearer hidden-key" };
    const { url, end } = await start(
      { mounts: mounts(), server: { tracing: { endpoint, headers } } },
      { OTEL_BSP_SCHEDULE_DELAY: "1" },
    );
    for (let count = 0; receiver.headers.length < 3; count += 1)
      expect(await ask(url, "resources/read", { uri: uri() }), String(count)).toContain('"text":"A"');
    await end();
    expect(log.match(/traces cannot be sent/g)).toHaveLength(1);
    expect(log).not.toMatch(/hidden/);
  });

  it("is not begun by a config that was found and not trusted", async () => {
    const receiver = await startTraceReceiver();
    const project = join(root, "project");
    mkdirSync(project);
    writeFileSync(join(project, "secret-name.md"), "A");
    writeFileSync(
      join(project, "pressmark.config.json"),
      JSON.stringify({ server: { tracing: { endpoint: receiver.url } } }),
    );
    const { url, end } = await start({}, {}, [project]);
    await ask(url, "resources/list", {});
    await end();
    expect(receiver.spans).toEqual([]);
    expect(log).toMatch(/sends traces of requests|tracing/);
  });

  it("marks a request that fails, without the message of the error", async () => {
    const receiver = await startTraceReceiver();
    const broken = { source: "mcp", url: "http://127.0.0.1:9/secret-name", timeoutMs: 1000 };
    const { url, end } = await start({ mounts: { broken }, server: { tracing: { endpoint: receiver.url } } });
    await ask(url, "resources/list", {});
    await end();
    expect(receiver.spans.find(({ name }) => name === "mcp list")).toMatchObject({ status: { code: failed } });
    expect(JSON.stringify(receiver.spans)).not.toContain("secret-name");
  });
});

describe("the target of traces", () => {
  it("is that of the config, else that of the environment", () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4318/x/" };
    expect(tracingTarget({ endpoint: "http://b.example" }, env)?.url).toBe("http://b.example/v1/traces");
    expect(tracingTarget(undefined, env)?.url).toBe("http://a.example:4318/x/v1/traces");
    const whole = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c.example/own" };
    expect(tracingTarget(undefined, whole)?.url).toBe("http://c.example/own");
    expect(tracingTarget(undefined, {})).toBeUndefined();
    expect(tracingTarget(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: "no url" })).toBeUndefined();
    expect(tracingTarget({ endpoint: "http://b.example" }, { OTEL_SDK_DISABLED: "true" })).toBeUndefined();
    const ratio = { ...env, OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" };
    expect(tracingTarget(undefined, ratio)?.sampleRatio).toBe(0.25);
  });
});
