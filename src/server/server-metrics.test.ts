import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpServer, type HttpServerOptions, startHttp } from "./start-http.ts";

let root: string;
let server: HttpServer;

const start = (more: Partial<HttpServerOptions> = {}) =>
  startHttp({
    folders: [],
    from: root,
    env: { XDG_STATE_HOME: join(root, ".state"), XDG_CACHE_HOME: join(root, ".cache"), HOME: root },
    err: { write: () => true },
    allowedHosts: [],
    version: "1.2.3",
    port: 0,
    ...more,
  });

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-own-metrics-")));
  writeFileSync(join(root, "a.md"), "A");
  server = await start();
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const place = () => new URL("/metrics", server.url).href;
const told = async () => (await fetch(place())).text();

async function valueOf(sample: string): Promise<number | undefined> {
  const line = (await told()).split("\n").find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

const modern = (method: string, params: object = {}, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(server.url, {
    method: "POST",
    headers: { ...json, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...headers },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 'odd "id"',
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        },
      },
    }),
    ...(signal && { signal }),
  });

async function openSession(): Promise<(body: object) => Promise<Response>> {
  const clientInfo = { name: "test", version: "1" };
  const first = await fetch(server.url, {
    method: "POST",
    headers: json,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    }),
  });
  await first.text();
  const headers = { ...json, "Mcp-Session-Id": first.headers.get("mcp-session-id") ?? "" };
  return (body) =>
    fetch(server.url, "end" in body ? { method: "DELETE", headers } : { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) }); // prettier-ignore
}

/** Serves the folder, and a note. */
async function startWithNotes(): Promise<void> {
  await server.close();
  const notes = { source: "memory", resources: { "b.md": "B" } };
  const config = { mounts: { folder: { source: "file", root: "." }, notes } };
  writeFileSync(join(root, "pressmark.config.json"), JSON.stringify(config));
  server = await start({ config: join(root, "pressmark.config.json") });
}

describe("/metrics", () => {
  it("counts requests of all revisions by method and outcome, with their duration", async () => {
    await (await modern("resources/list")).text();
    const uri = "file:///no/such/thing";
    await (await modern("resources/read", { uri }, { "Mcp-Name": uri })).text();
    await (await modern(`made-up/${"x".repeat(100)}`)).text();
    const ask = await openSession();
    await (await ask({ id: "two", method: "resources/list" })).text();
    await (await ask({ id: 3, method: "resources/read", params: { uri } })).text();
    await (await ask({ method: "notifications/initialized" })).text();
    const text = await told();
    const counted = text.split("\n").filter((line) => line.startsWith("pressmark_requests_total"));
    expect(counted).toEqual([
      'pressmark_requests_total{method="initialize",revision="2025-11-25",source="none",outcome="ok"} 1',
      'pressmark_requests_total{method="other",revision="2026-07-28",source="none",outcome="unknown-method"} 1',
      'pressmark_requests_total{method="resources/list",revision="2025-11-25",source="file",outcome="ok"} 1',
      'pressmark_requests_total{method="resources/list",revision="2026-07-28",source="file",outcome="ok"} 1',
      'pressmark_requests_total{method="resources/read",revision="2025-11-25",source="none",outcome="not-found"} 1',
      'pressmark_requests_total{method="resources/read",revision="2026-07-28",source="none",outcome="invalid"} 1',
    ]);
    const timed = 'method="resources/list",source="file"';
    expect(text).toContain(`pressmark_request_duration_seconds_bucket{${timed},le="+Inf"} 2\n`);
    expect(text).toContain(`pressmark_request_duration_seconds_count{${timed}} 2\n`);
    expect(text).not.toContain("made-up");
  });

  it("counts malformed messages, and a batch once; notifications and responses are not counted", async () => {
    const post = async (body: unknown, headers: Record<string, string> = {}) =>
      (
        await fetch(server.url, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) })
      ).text();
    const ask = await openSession();
    await (await ask({ id: 1, method: "ping", params: [] })).text();
    await (await ask({ id: null, method: "ping" })).text();
    await (await ask({ id: 'two "quoted"', method: "resources/subscribe", params: { uri: "file:///no/such" } })).text();
    await (await ask({ id: 3, method: "resources/subscribe", params: {} })).text();
    await (await ask({ id: 4, method: "initialize", params: {} })).text();
    await (await ask({ id: 5, method: "tools/call", params: { name: "read_resource", arguments: {} } })).text();
    await (await ask({ id: 6, result: {} })).text();
    await (await ask({ method: "notifications/cancelled", params: { requestId: 99 } })).text();
    await (await modern("subscriptions/listen", { notifications: 1 })).text();
    await (await modern("resources/list", {}, { "Mcp-Method": "resources/read" })).text();
    await (await modern("resources/read", { uri: "a b" }, { "Mcp-Name": "a b" })).text();
    const opened = await fetch(server.url, {
      method: "POST",
      headers: json,
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      }),
    });
    await opened.text();
    const session = { "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "" };
    await post(
      [
        { jsonrpc: "2.0", id: 1, method: "ping" },
        { jsonrpc: "2.0", id: 2, method: "made-up" },
      ],
      session,
    );
    await post([{ jsonrpc: "2.0", method: "notifications/initialized" }], session);
    await post([], session);
    const counted = (await told()).split("\n").filter((line) => line.startsWith("pressmark_requests_total"));
    expect(
      counted.map((line) => line.replaceAll(/pressmark_requests_total|method=|revision=|outcome=|source=|"/g, "")),
    ).toEqual([
      "{initialize,2025-03-26,none,ok} 1",
      "{initialize,2025-11-25,none,ok} 1",
      "{initialize,unknown,none,invalid} 1",
      "{other,2025-03-26,none,cancelled} 1",
      "{other,2025-03-26,none,ok} 2",
      "{ping,2025-11-25,none,malformed} 2",
      "{resources/list,2026-07-28,none,error} 1",
      "{resources/read,2026-07-28,none,invalid} 1",
      "{resources/subscribe,2025-11-25,none,invalid} 1",
      "{resources/subscribe,2025-11-25,none,not-found} 1",
      "{subscriptions/listen,2026-07-28,none,invalid} 1",
      "{tools/call,2025-11-25,none,ok} 1",
    ]);
    expect(await valueOf("pressmark_listens")).toBe(0);
    expect(await valueOf("pressmark_subscriptions")).toBe(0);
  });

  it("names the type of source that answered, and none where several mounts did", async () => {
    await startWithNotes();
    const uri = `file://${root}/a.md`;
    await (await modern("resources/read", { uri }, { "Mcp-Name": uri })).text();
    await (await modern("resources/list")).text();
    await (await modern("tools/call", { name: "read_resource", arguments: { uri } }, { "Mcp-Name": "read_resource" })).text(); // prettier-ignore
    const counted = (await told()).split("\n").filter((line) => line.startsWith("pressmark_requests_total"));
    expect(counted.map((line) => /method="(.*?)".*source="(.*?)"/.exec(line)?.slice(1))).toEqual([
      ["resources/list", "none"],
      ["resources/read", "file"],
      ["tools/call", "file"],
    ]);
    expect(await told()).not.toMatch(/notes|folder/);
  });

  it("counts what the read cache does", async () => {
    await startWithNotes();
    // A file that was just written has no version yet, so it is not cached.
    const uri = "memory://notes/b.md";
    const read = async () => (await modern("resources/read", { uri }, { "Mcp-Name": uri })).text();
    for (let count = 0; count < 5; count += 1) await read();
    const [hits, misses] = [await valueOf("pressmark_cache_hits_total"), await valueOf("pressmark_cache_misses_total")];
    expect(hits).toBeGreaterThan(0);
    expect((hits ?? 0) + (misses ?? 0)).toBe(5);
    expect(await valueOf("pressmark_cache_bytes")).toBeGreaterThan(0);
  });

  it("is text that Prometheus reads: each family once, with its type and meaning, and each sample a number", async () => {
    await (await modern("resources/list")).text();
    const response = await fetch(place());
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = (await response.text()).trimEnd().split("\n");
    const families = new Set<string>();
    for (const line of lines) {
      const [, kind, name = ""] = /^# (HELP|TYPE) (\w+) \S/.exec(line) ?? [];
      if (kind === "HELP") {
        expect(families, name).not.toContain(name);
        families.add(name);
      } else if (kind === undefined) {
        const sample = /^([a-z_]+)(?:\{[^}]*\})? (\S+)$/.exec(line);
        expect(sample, line).not.toBeNull();
        expect(Number.isFinite(Number(sample?.[2])), line).toBe(true);
        expect(
          [...families].some((each) => sample?.[1]?.startsWith(each)),
          line,
        ).toBe(true);
      }
    }
    for (const name of ["process_resident_memory_bytes", "pressmark_index_ready_ratio", "pressmark_streams"])
      expect(families).toContain(name);
    expect(lines).toContain(`pressmark_info{version="1.2.3",node="${process.version}"} 1`);
  });

  it("reports the number of listens, also after they ended", async () => {
    const uri = `file://${root}/a.md`;
    const leave = new AbortController();
    const asked = { notifications: { resourceSubscriptions: [uri], resourcesListChanged: true } };
    const listening = await modern("subscriptions/listen", asked, {}, leave.signal);
    await listening.body!.getReader().read();
    const ask = await openSession();
    await (await ask({ id: 2, method: "resources/subscribe", params: { uri } })).text();
    await (await ask({ id: 3, method: "resources/subscribe", params: { uri } })).text();
    expect(await valueOf("pressmark_listens")).toBe(1);
    expect(await valueOf("pressmark_subscriptions")).toBe(2);
    await (await ask({ id: 4, method: "resources/unsubscribe", params: { uri } })).text();
    expect(await valueOf("pressmark_subscriptions")).toBe(1);
    await (await ask({ id: 5, method: "resources/subscribe", params: { uri } })).text();
    await (await ask({ end: true })).text();
    expect(await valueOf("pressmark_sessions")).toBe(0);
    expect(await valueOf("pressmark_subscriptions")).toBe(1);
    leave.abort();
    // The server notices when the connection is closed.
    while ((await valueOf("pressmark_listens")) !== 0);
    expect(await valueOf("pressmark_subscriptions")).toBe(0);
    const cancelled = 'method="subscriptions/listen",revision="2026-07-28",source="none",outcome="cancelled"';
    expect(await valueOf(`pressmark_requests_total{${cancelled}}`)).toBe(1);
  });

  it("stands behind the same checks as everything else", async () => {
    const statusFor = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asking = request(place(), { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asking.once("error", reject).end();
      });
    expect(await statusFor({})).toBe(200);
    expect(await statusFor({ Host: "evil.example" })).toBe(403);
    expect(await statusFor({ Origin: "https://evil.example" })).toBe(403);
    expect((await fetch(place(), { method: "PUT" })).status).toBe(405);
    const head = await fetch(place(), { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("asks for the token where everything does", async () => {
    const token = "0123456789abcdef0123456789abcdef";
    const guarded = await start({
      env: {
        XDG_STATE_HOME: join(root, ".state"),
        XDG_CACHE_HOME: join(root, ".cache"),
        HOME: root,
        PRESSMARK_TOKEN: token,
      },
    });
    try {
      const at = new URL("/metrics", guarded.url);
      expect((await fetch(at)).status).toBe(401);
      expect((await fetch(at, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
