/** The fetch handler passes the tests of the Node handler, and its own. */
import "./test-fetch.ts";
import "./cancelled-requests.test.ts";
import "./http-entry-points.test.ts";
import "./http.test.ts";
import "./legacy-sessions.test.ts";
import "./refusal-ids.test.ts";
import "./sse.test.ts";
import "./standing-stream.test.ts";
import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Peer, Reply } from "../protocol/protocol.ts";
import { createFetchHandler, type FetchHandlerOptions } from "./fetch-handler.ts";
import { createFakeProtocol, resultOf, type Script, wireOf } from "./test-protocol.ts";
import { question, rawBody } from "./test-question.ts";

const json = { "Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28" };
const echoed = { jsonrpc: "2.0", id: 7, result: { echo: "resources/list" } };

function requestOf(path = "/mcp", init: RequestInit = {}): Request {
  return new Request(`http://localhost${path}`, { method: "POST", headers: json, body: rawBody, ...init });
}

function handlerOf(script: Script = {}, options: FetchHandlerOptions = {}) {
  const edge = createFakeProtocol(script);
  const handler = createFetchHandler(edge, { log: () => {}, ...options });
  onTestFinished(() => handler.close(0));
  return { ...handler, handler, edge };
}

/** Starts a stream whose first event has been read. */
async function startStream(options: FetchHandlerOptions = {}, init: RequestInit = {}) {
  const started = Promise.withResolvers<{ readonly reply: Reply; readonly peer: Peer }>();
  const { fetch, handler } = handlerOf(
    {
      exchange(_message, reply, peer) {
        void reply.notify(wireOf({ hello: true }));
        started.resolve({ reply, peer });
      },
    },
    options,
  );
  const response = await fetch(requestOf("/mcp", init));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return { ...(await started.promise), reader, handler };
}

/** Resolves when the request is cancelled. */
async function whenAborted({ signal }: Peer): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

describe("the stream of a fetch handler", () => {
  const event = [JSON.stringify("x".repeat(70_000))];

  it("makes the protocol wait for a slow reader, and goes on when it reads", async () => {
    const { reply, reader } = await startStream();
    const state = { isSent: false };
    const sending = Promise.resolve(reply.notify(event)).then(() => (state.isSent = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.isSent).toBe(false);
    let length = 0;
    while (!state.isSent) {
      const { value } = await reader.read();
      length += value?.length ?? 0;
    }
    await sending;
    expect(length).toBeGreaterThan(70_000);
    reply.end(wireOf({ done: true }));
    const rest: string[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest.push(Buffer.from(next.value).toString());
    expect(rest.join("")).toContain('data: {"done":true}\n\n');
  });

  it("ends what it was for when its reader cancels it", async () => {
    const { peer, reply, reader, handler } = await startStream();
    expect([peer.signal.aborted, handler.counts.streams]).toEqual([false, 1]);
    await reader.cancel();
    await whenAborted(peer);
    expect(handler.counts.streams).toBe(0);
    expect(reply.notify(event)).toBeUndefined();
  });

  it("ends what it was for when its request is aborted", async () => {
    const leaving = new AbortController();
    const { peer, reader } = await startStream({}, { signal: leaving.signal });
    leaving.abort();
    await whenAborted(peer);
    expect((await reader.read()).done).toBe(true);
  });

  it("is cut off with an error when its reader takes nothing for too long", async () => {
    const { peer, reply, reader } = await startStream({ stallMs: 20 });
    const pending = reply.notify(event);
    await whenAborted(peer);
    await pending;
    await expect(reader.read()).rejects.toThrow("cut off");
  });

  it("is not cut off while its reader reads, or while there is nothing to read", async () => {
    const { peer, reply, reader } = await startStream({ stallMs: 20, keepAliveMs: 5 });
    for (let count = 0; count < 20; count++) await reader.read();
    expect(peer.signal.aborted).toBe(false);
    reply.end(wireOf({ done: true }));
  });

  it("ends with the caller's admission", async () => {
    const admission = new AbortController();
    const { fetch } = handlerOf({ exchange: (message, reply) => void reply.notify(resultOf(message)) });
    const { body } = await fetch(requestOf(), { caller: { id: "ann", ended: admission.signal } });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    admission.abort();
    await expect(reader.read()).rejects.toThrow("cut off");
  });
});

describe("a request that was aborted before it was handed over", () => {
  it("is not served, and nothing waits for it", async () => {
    const served: unknown[] = [];
    const { handler } = handlerOf({ exchange: (message) => served.push(message) });
    const response = await handler.fetch(requestOf("/mcp", { signal: AbortSignal.abort() }));
    expect(response.status).toBe(503);
    // It would wait for the response.
    await handler.close(600_000);
    expect(served).toEqual([]);
  });
});

describe("a fetch handler inside an app", () => {
  it("uses the host of the URL only if there is no header", async () => {
    const { fetch } = handlerOf({}, { allowedHosts: ["app.example"] });
    const status = async (url: string, host?: string) => {
      const headers = { ...json, ...(host !== undefined && { Host: host }) };
      return (await fetch(new Request(url, { method: "POST", headers, body: rawBody }))).status;
    };
    expect(await status("http://app.example/mcp")).toBe(200);
    expect(await status("http://evil.example/mcp")).toBe(403);
    expect(await status("http://evil.example/mcp", "app.example")).toBe(200);
    expect(await status("http://app.example/mcp", "evil.example")).toBe(403);
  });

  it("serves its base path, whether the framework removes it or not", async () => {
    const { fetch } = handlerOf({}, { basePath: "/api/mcp" });
    for (const path of ["/api/mcp", "/api/mcp/", "/api/mcp/mcp", "/", "/mcp"])
      expect(await (await fetch(requestOf(path))).json()).toEqual(echoed);
    const { body } = await fetch(requestOf("/api/mcp/sse", { method: "GET", body: null }));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain("data: /api/mcp/messages?sessionId=");
    await reader.cancel();
  });

  it("uses a body that the app has read, and says so if it is missing", async () => {
    const logged: string[] = [];
    const log: FetchHandlerOptions["log"] = (_level, _message, details) => logged.push(String(details?.["cause"]));
    const { handler } = handlerOf({}, { log, maxBodyBytes: 1000 });
    const request = requestOf();
    const body = await request.json();
    expect(await (await handler.fetch(request, { body })).json()).toEqual(echoed);
    expect((await handler.fetch(request)).status).toBe(500);
    expect(logged).toEqual([expect.stringContaining("pass it as { body }")]);
    expect((await handler.fetch(request, { body: { ...question, pad: "x".repeat(2000) } })).status).toBe(413);
  });

  it("refuses a body that something else is reading, and the log says why", async () => {
    const logged: string[] = [];
    const { fetch } = handlerOf({}, { log: (_level, _message, facts) => logged.push(String(facts?.["cause"])) });
    const request = requestOf();
    request.body?.getReader();
    expect((await fetch(request)).status).toBe(500);
    expect(logged).toEqual([expect.stringContaining("pass it as { body }")]);
  });

  it("logs to standard error if it serves a protocol without an app", async () => {
    const written: string[] = [];
    const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
    onTestFinished(() => write.mockRestore());
    const handler = createFetchHandler(createFakeProtocol(), { identify: () => Promise.reject(new Error("no\nbody")) });
    onTestFinished(() => handler.close(0));
    expect((await handler.fetch(requestOf())).status).toBe(500);
    expect(written).toEqual(['pressmark error: a request over HTTP failed (cause "no\\nbody")\n']);
  });

  it("takes the encoding of a body for undone if the app passes the body", async () => {
    const { handler } = handlerOf();
    const headers = { ...json, "Content-Encoding": "gzip" };
    expect(await (await handler.fetch(requestOf("/mcp", { headers }), { body: question })).json()).toEqual(echoed);
    expect((await handler.fetch(requestOf("/mcp", { headers }))).status).toBe(415);
  });

  it("takes the caller directly, and keeps sessions of callers apart", async () => {
    const { fetch, edge } = handlerOf();
    const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const opened = await fetch(
      requestOf("/mcp", { headers: { "Content-Type": "application/json" }, body: JSON.stringify(initialize) }),
      { caller: { id: "ann" } },
    );
    const headers = {
      "Content-Type": "application/json",
      "Mcp-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "",
    };
    const askAs = async (caller: { id: string } | undefined) =>
      (await fetch(requestOf("/mcp", { headers }), { caller })).status;
    expect(await askAs({ id: "bob" })).toBe(404);
    expect(await askAs(undefined)).toBe(401);
    expect(await askAs({ id: "ann" })).toBe(200);
    expect(edge.sessions).toHaveLength(1);
  });

  it("answers HEAD without a body, and 503 after it was closed", async () => {
    const { fetch, handler } = handlerOf();
    const head = await fetch(requestOf("/mcp", { method: "HEAD", body: null }));
    expect([head.status, head.headers.get("Allow"), await head.text()]).toEqual([
      405,
      "GET, POST, DELETE, OPTIONS",
      "",
    ]);
    await handler.close(0);
    expect((await fetch(requestOf())).status).toBe(503);
  });

  it("passes the client's address on", async () => {
    const { fetch } = handlerOf({ exchange: (message, reply, { client }) => reply.end(resultOf(message, client)) });
    const answer = await fetch(requestOf(), { remoteAddress: "203.0.113.7" });
    expect(await answer.json()).toMatchObject({ result: { address: "203.0.113.7", remote: "203.0.113.7" } });
  });
});
