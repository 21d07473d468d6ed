/** What ends a caller who signed in with OAuth, while the server runs. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { JWTPayload } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startProvider, type TestProvider } from "./provider.ts";
import { listMessage, resource, type ServedSettings, serveWith, type TestServer } from "./served.ts";

let provider: TestProvider;
let server: TestServer;

beforeAll(async () => {
  provider = await startProvider(resource);
});

afterAll(() => provider.stop());
afterEach(() => server.remove());

const listenMessage = {
  ...listMessage,
  method: "subscriptions/listen",
  params: { notifications: { resourcesListChanged: true } },
};

/** Opens a listen, and resolves with its end. */
async function listen(token: string): Promise<{ readonly ended: Promise<unknown> }> {
  const response = await server.ask(token, listenMessage);
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  // The acknowledgement.
  await reader.read();
  const toEnd = async (): Promise<unknown> => {
    for (;;) if ((await reader.read()).done) return "done";
  };
  return { ended: toEnd().catch(() => "cut") };
}

/** Expires soon, but not before it is used: the keys that verify it are there already. */
async function shortToken(claims: JWTPayload = {}): Promise<string> {
  expect((await server.ask(await provider.token())).status).toBe(200);
  return provider.sign({ ...claims, exp: Math.floor(Date.now() / 1000) + 5 });
}

describe("a listen", () => {
  it("ends when the token expires", async () => {
    server = await serveWith(provider, { issuer: { clockSkewSeconds: 0 } });
    const token = await shortToken();
    const { ended } = await listen(token);
    await ended;
    expect((await server.ask(token)).status).toBe(401);
  });

  it("ends when the issuer is removed from the config, and its tokens are refused", async () => {
    server = await serveWith(provider);
    const token = await provider.token();
    const { ended } = await listen(token);
    server.configure({ issuer: { issuer: "https://other.example" } });
    await ended;
    expect((await server.ask(token)).status).toBe(401);
  });

  it("ends when its audience is no longer accepted", async () => {
    server = await serveWith(provider);
    const token = await provider.token();
    const { ended } = await listen(token);
    server.configure({ issuer: { audience: "https://other.example/mcp" } });
    await ended;
    expect((await server.ask(token)).status).toBe(401);
  });

  it("goes on when something else changes", async () => {
    server = await serveWith(provider);
    const token = await provider.token();
    const { ended } = await listen(token);
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    const other: ServedSettings = { config: { callers: { aki: {} } }, server: { audit: true } };
    server.configure(other);
    const added = { config: { sets: { s: { resources: ["a.md"] } } } };
    server.configure({ ...other, ...added });
    await vi.waitFor(async () => expect(await (await server.ask(token)).text()).toContain("set://s"), 10_000);
    expect(hasEnded).toBe(false);
  });
});

it("a session of an older revision ends when its token expires", async () => {
  server = await serveWith(provider, { issuer: { clockSkewSeconds: 0 } });
  const [short, long] = [await shortToken({ sub: "a" }), await provider.sign({ sub: "a" })];
  const send = (token: string, body: object, session?: string) =>
    fetch(server.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        Authorization: `Bearer ${token}`,
        ...(session !== undefined && { "Mcp-Session-Id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
    });
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const opened = await send(short, { method: "initialize", params });
  const session = opened.headers.get("Mcp-Session-Id")!;
  expect((await send(short, { method: "ping" }, session)).status).toBe(200);
  await vi.waitFor(async () => expect((await send(short, { method: "ping" }, session)).status).toBe(401), 10_000);
  expect((await send(long, { method: "ping" }, session)).status).toBe(404);
});

it("a token is never passed on to another server, which gets the credentials of the mount", async () => {
  const seen: (string | undefined)[] = [];
  const token = await provider.token();
  const upstream = await serveWith(provider);
  // Records what arrives, and passes it on with a token that the other server accepts.
  const recorder = createServer((incoming, response) => {
    seen.push(JSON.stringify(incoming.rawHeaders));
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method } = incoming;
    incoming.pipe(
      request(upstream.url, { method, headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      }),
    );
  });
  await new Promise<void>((listening) => recorder.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}/mcp`;
  try {
    const far = { source: "mcp", url, headers: { Authorization: "Bearer own-credential" } };
    server = await serveWith(provider, { config: { mounts: { far } } });
    const listed = (await (await server.ask(token)).json()) as { result: { resources: { uri: string }[] } };
    const uri = listed.result.resources.map((each) => each.uri).find((each) => each.endsWith("/a.md"))!;
    const read = await server.ask(token, { ...listMessage, method: "resources/read", params: { uri } });
    expect(await read.text()).toContain("tea");
    expect(seen.length).toBeGreaterThan(1);
    for (const headers of seen) {
      expect(headers).toContain("Bearer own-credential");
      expect(headers).not.toContain(token);
    }
  } finally {
    await server.close();
    recorder.close().closeAllConnections();
    await upstream.remove();
  }
});
