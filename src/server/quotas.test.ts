/** Quotas per caller, as `pressmark serve` applies them: one caller floods, the others notice nothing. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../client/connect.ts";
import type { Call } from "../resources.ts";
import { type AuditEntry, auditFolder, readAuditLog } from "./audit-log.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { startStdio } from "./start-stdio.ts";
import { createTokenStore } from "./token-store.ts";

const ownerToken = "0123456789abcdef0123456789abcdef";
const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };

let root: string;
let folder: string;
let server: HttpServer | undefined;
let tokens: { aki: string; bo: string };

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-quotas-")));
  folder = join(root, "team");
  write("README.md", "# Team\nkettle\n");
  write("large.txt", "x".repeat(50_000));
  for (let count = 0; count < 40; count += 1) write(`notes/${count}.md`, `note ${count}\n`);
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const uriOf = (path: string) => pathToFileURL(join(folder, path)).href;

function configure(quotas: string, more = "", mounts = "  files: { source: file, root: . }\n"): void {
  const access = `callers:\n  aki: { groups: [bots] }\n  bo: {}\nserver: { token: "${ownerToken}", audit: true }\n`;
  write("pressmark.yaml", `mounts:\n${mounts}${access}quotas:\n${quotas}${more}`);
}

const options = () => ({
  folders: [],
  config: join(folder, "pressmark.yaml"),
  from: folder,
  env: { ...process.env, HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") },
  err: { write: () => true },
  version: "1",
});

async function serve(): Promise<void> {
  server = await startHttp({ ...options(), allowedHosts: [], port: 0 });
  const store = createTokenStore(join(root, "state", "pressmark"), join(folder, "pressmark.yaml"));
  const create = async (caller: string) => (await store.create(caller, Date.now())).token;
  tokens = { aki: await create("aki"), bo: await create("bo") };
}

interface JsonRpcReply {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

/** Posts a body, with the headers of a session if there are any. */
async function post(token: string, body: unknown, headers: Record<string, string> = {}, path = "/mcp") {
  const response = await fetch(new URL(path, server!.url), {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), response };
}

/** One stateless request. */
async function ask(token: string, method: string, params: Record<string, unknown> = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params["uri"] ?? params["name"];
  const { response, ...rest } = await post(
    token,
    { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } },
    {
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" && { "Mcp-Name": name }),
      ...(method !== "subscriptions/listen" && { Accept: "application/json" }),
    },
  );
  return { ...rest, response, reply: () => response.json() as Promise<JsonRpcReply> };
}

const read = (token: string, path: string) => ask(token, "resources/read", { uri: uriOf(path) });

const search = (token: string, query: string) =>
  ask(token, "tools/call", { name: "search_resources", arguments: { query } });
const git = (...words: readonly string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...words], { cwd: folder });
const blame = (token: string) => ask(token, "resources/read", { uri: "git://history/blame/HEAD/README.md" });
const listen = (token: string, paths: readonly string[]) =>
  ask(token, "subscriptions/listen", { notifications: { resourceSubscriptions: paths.map(uriOf) } });

/** Repeats a request until it is refused. */
async function refusalOf(request: () => ReturnType<typeof ask>, most = 60) {
  for (let count = 0; count < most; count += 1) {
    const answer = await request();
    const reply = await answer.reply();
    if (answer.status === 429) return { count, retryAfter: answer.retryAfter, reply };
    expect([answer.status, reply.error]).toEqual([200, undefined]);
  }
  throw new Error(`none of ${most} requests was refused`);
}

async function ownerStatus(): Promise<{ refusedByQuota: unknown[] }> {
  const owner = await connect(server!.url, { headers: { Authorization: `Bearer ${ownerToken}` } });
  const { contents } = await owner.read("pressmark://status", call);
  await owner.close();
  return JSON.parse((contents[0]!.body as { text: string }).text) as { refusedByQuota: unknown[] };
}

describe("a caller with quotas", () => {
  it("is refused requests beyond them, with the time to wait, while others are served", async () => {
    configure("  anyone: { requestsPerMinute: 6 }\n  group:bots: { requestsPerMinute: 4 }\n");
    await serve();
    // Strangers are nobody's cost.
    for (let count = 0; count < 20; count += 1) expect((await read("wrong", "README.md")).status).toBe(401);
    const { count, retryAfter, reply } = await refusalOf(() => read(tokens.aki, "README.md"));
    expect(count).toBeGreaterThanOrEqual(4);
    expect(retryAfter).toMatch(/^[1-9]\d?$/);
    expect(reply).toMatchObject({
      id: 7,
      error: { code: -32603, data: { reason: "quota", quota: "requestsPerMinute", retryAfterMs: expect.any(Number) } },
    });
    expect(Number(retryAfter)).toBe(Math.ceil((reply.error!.data!["retryAfterMs"] as number) / 1000));
    const page = await fetch(new URL("/", server!.url), { headers: { Authorization: `Bearer ${tokens.aki}` } });
    expect([page.status, page.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    const client = await connect(server!.url, { headers: { Authorization: `Bearer ${tokens.aki}` } }).catch(
      (cause: unknown) => cause,
    );
    expect(client).toMatchObject({ kind: "busy", details: { quota: "requestsPerMinute" } });
    // A long body is not read.
    const large = await post(tokens.aki, `{"padding":"${"x".repeat(100_000)}"}`);
    expect([large.status, Number(large.retryAfter) > 0]).toEqual([429, true]);
    await large.response.text();
    for (let more = 0; more < 5; more += 1) expect((await read(tokens.bo, "README.md")).status).toBe(200);
    for (let more = 0; more < 20; more += 1) expect((await read(ownerToken, "README.md")).status).toBe(200);
  });

  it("is refused after results that were larger than what was left", async () => {
    configure("  anyone: { bytesPerMinute: 20000 }\n");
    await serve();
    expect((await read(tokens.aki, "large.txt")).status).toBe(200);
    const { reply, retryAfter } = await refusalOf(() => read(tokens.aki, "README.md"), 1);
    expect(reply.error!.data).toMatchObject({ quota: "bytesPerMinute" });
    // The debt of more than 30,000 bytes takes one and a half minutes.
    expect(Number(retryAfter)).toBeGreaterThan(60);
    expect((await read(tokens.bo, "README.md")).status).toBe(200);
  });

  it("is refused after wide lists, in the protocol and through tools", async () => {
    for (let count = 0; count < 60; count += 1) write(`${count}.md`, "");
    configure("  anyone: { entriesPerMinute: 40 }\n");
    await serve();
    // The instructions name key resources, which the server looks up for itself.
    for (let count = 0; count < 10; count += 1) expect((await ask(tokens.aki, "server/discover")).status).toBe(200);
    const lists = await refusalOf(() => ask(tokens.aki, "resources/list"), 5);
    expect(lists.reply.error!.data).toMatchObject({ quota: "entriesPerMinute" });
    const byTool = await refusalOf(
      () => ask(tokens.bo, "tools/call", { name: "list_resources", arguments: { limit: 100 } }),
      60,
    );
    expect(byTool.reply.error!.data).toMatchObject({ quota: "entriesPerMinute" });
    expect((await read(ownerToken, "README.md")).status).toBe(200);
  });

  it("is refused after searches", async () => {
    configure("  anyone: { indexRowsPerMinute: 3000 }\n");
    await serve();
    await vi.waitFor(
      async () => expect(JSON.stringify(await (await search(ownerToken, "kettle")).reply())).toContain("README"),
      { timeout: 60_000, interval: 200 },
    );
    const { reply } = await refusalOf(() => search(tokens.aki, "kettle"));
    expect(reply.error!.data).toMatchObject({ quota: "indexRowsPerMinute" });
    expect((await search(tokens.bo, "kettle")).status).toBe(200);
  });

  it("is refused after the work of child processes", async () => {
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    configure("  anyone: { processMsPerMinute: 1 }\n", "", "  history: { source: git, root: . }\n");
    await serve();
    const { reply } = await refusalOf(() => blame(tokens.aki), 2);
    expect(reply.error!.data).toMatchObject({ quota: "processMsPerMinute" });
    expect((await blame(tokens.bo)).status).toBe(200);
  });

  it("may open no more listens than allowed, and keeps those it has", async () => {
    configure("  anyone: { listens: 2 }\n");
    await serve();
    const first = await listen(tokens.aki, ["README.md", "large.txt"]);
    expect(first.status).toBe(200);
    const second = await listen(tokens.aki, ["notes/1.md"]);
    expect([second.status, second.retryAfter]).toEqual([429, "1"]);
    expect((await second.reply()).error!.data).toMatchObject({ quota: "listens" });
    const other = await listen(tokens.bo, ["notes/1.md"]);
    expect(other.status).toBe(200);
    const reader = first.response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (word: string) => {
      while (!text.includes(word)) text += (await reader.read()).value ?? "";
    };
    await until("acknowledged");
    write("README.md", "# Changed\n");
    await until("notifications/resources/updated");
    await reader.cancel();
    await vi.waitFor(async () => expect((await listen(tokens.aki, ["notes/1.md"])).status).toBe(200), {
      timeout: 15_000,
      interval: 50,
    });
    await other.response.body!.cancel();
  });

  it("gets errors with the status 200 in a session of an older revision, for each request of a batch", async () => {
    configure("  anyone: { requestsPerMinute: 4, listens: 1 }\n");
    await serve();
    const opened = await post(tokens.aki, {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "old", version: "1" } },
    });
    await opened.response.text();
    const session = { "Mcp-Session-Id": opened.response.headers.get("mcp-session-id")! };
    const pings = [2, 3, 4, 5, 6, 7].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    const batch = await post(tokens.aki, pings, { ...session, Accept: "application/json" });
    const replies = (await batch.response.json()) as JsonRpcReply[];
    expect(batch.status).toBe(200);
    expect(replies.map(({ id }) => id)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(replies.slice(0, 3).every(({ result }) => result !== undefined)).toBe(true);
    expect(replies.at(-1)!.error).toMatchObject({ code: -32603, data: { quota: "requestsPerMinute" } });
    const one = await post(tokens.aki, pings[0], { ...session, Accept: "application/json" });
    expect([one.status, ((await one.response.json()) as JsonRpcReply).error?.data?.["reason"]]).toEqual([200, "quota"]);
    // Its stream counts as a listen.
    const stream = { headers: { Authorization: `Bearer ${tokens.aki}`, Accept: "text/event-stream", ...session } };
    const held = await fetch(server!.url, stream);
    expect([held.status, (await fetch(new URL("/sse", server!.url), stream)).status]).toEqual([200, 429]);
    await held.body!.cancel();
  });

  it("gets other quotas as soon as the config changes", async () => {
    configure("  anyone: { requestsPerMinute: 1 }\n");
    await serve();
    await refusalOf(() => read(tokens.aki, "README.md"));
    configure('  caller:aki: { requestsPerMinute: "unlimited" }\n  caller:bo: { requestsPerMinute: 1 }\n');
    await vi.waitFor(async () => expect((await read(tokens.aki, "README.md")).status).toBe(200), {
      timeout: 15_000,
      interval: 50,
    });
    for (let count = 0; count < 10; count += 1) expect((await read(tokens.aki, "README.md")).status).toBe(200);
    expect((await refusalOf(() => read(tokens.bo, "README.md"))).reply.error).toBeDefined();
  });

  it("shows in the status, the metrics and, once, in the audit log how often it was refused", async () => {
    configure("  caller:aki: { requestsPerMinute: 1 }\n");
    await serve();
    await refusalOf(() => read(tokens.aki, "README.md"));
    for (let count = 0; count < 20; count += 1) await read(tokens.aki, "README.md");
    const { refusedByQuota } = await ownerStatus();
    expect(refusedByQuota).toEqual([{ caller: "aki", quota: "requestsPerMinute", count: expect.any(Number) }]);
    const metrics = await fetch(new URL("/metrics", server!.url), {
      headers: { Authorization: `Bearer ${ownerToken}` },
    });
    expect(await metrics.text()).toMatch(
      /pressmark_quota_refusals_total\{caller="aki",quota="requestsPerMinute"\} [1-9]\d*\n/,
    );
    await server!.close();
    server = undefined;
    const entries: AuditEntry[] = [];
    const recorded = readAuditLog(auditFolder(join(root, "state", "pressmark"), join(folder, "pressmark.yaml")));
    for await (const entry of recorded) if (entry.what === "quota") entries.push(entry);
    expect(entries).toEqual([
      expect.objectContaining({ caller: "aki", outcome: "denied", detail: "requestsPerMinute refused 1 times" }),
    ]);
  });

  it("is the local user over stdio only if named", async () => {
    configure("  anyone: { requestsPerMinute: 1 }\n  caller:local: { requestsPerMinute: 3 }\n");
    const [input, out] = [new PassThrough(), new PassThrough()];
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } };
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
    for (let id = 1; id <= 5; id += 1) input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`);
    input.end();
    await startStdio({ ...options(), input, out, signal: new AbortController().signal });
    out.end();
    const lines = (await out.toArray()).join("").trim().split("\n");
    // A refusal overtakes the responses to earlier requests.
    const replies = lines
      .map((line) => JSON.parse(line) as JsonRpcReply)
      .toSorted((one, other) => Number(one.id) - Number(other.id));
    const refused = replies.map(({ error }) => error?.data?.["quota"]);
    expect(refused).toEqual([undefined, undefined, undefined, ...Array.from({ length: 3 }, () => "requestsPerMinute")]);
  });
});
