import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { notFound } from "../errors.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import type { Call, Change, Resources, Watch } from "../resources.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import { listen } from "./listen.ts";
import { serveStdio } from "./stdio.ts";
import type { EventReader } from "./test-client.ts";
import { createWireClient } from "./test-client.ts";

const nothing = () => Promise.resolve({ items: [] });

/** One resource that can be changed and watched. */
function createNote() {
  let text = "first";
  const watchers = new Set<(change: Change) => void>();
  const uri = "note://a";
  const freshness = { ttlMs: 0, scope: "private" } as const;

  function watch(uris: readonly string[], { signal }: Call): Watch {
    const changes: Change[] = [];
    let wake = Promise.withResolvers<void>();
    const hear = (change: Change) => {
      changes.push(change);
      wake.resolve();
    };
    /** Also ends a pending `next`. */
    const end = () => {
      watchers.delete(hear);
      wake.resolve();
    };
    watchers.add(hear);
    signal.addEventListener("abort", end, { once: true });
    return {
      uris,
      [Symbol.asyncIterator]: () => ({
        async next() {
          while (watchers.has(hear)) {
            const value = changes.shift();
            if (value) return { done: false, value };
            await wake.promise;
            wake = Promise.withResolvers();
          }
          return { done: true, value: undefined };
        },
        return() {
          end();
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  }

  const resources: Resources = {
    list: () => Promise.resolve({ items: [{ uri, name: "a" }] }),
    children: nothing,
    templates: nothing,
    complete: () => Promise.resolve({ values: [] }),
    search: () => Promise.resolve({ hits: [], ready: 1 }),
    stat: () => Promise.resolve({ uri, name: "a" }),
    read: (asked) =>
      asked === uri
        ? Promise.resolve({ contents: [{ uri, mimeType: "text/plain", body: { text } }], ...freshness })
        : Promise.reject(notFound(asked)),
    watch: (filter, call) =>
      Promise.resolve(
        watch(
          (filter.uris ?? []).filter((wanted) => wanted === uri),
          call,
        ),
      ),
    listFreshness: freshness,
  };
  return {
    resources,
    change(to: string) {
      text = to;
      for (const hear of watchers) hear({ kind: "updated", uri });
    },
    watchers,
  };
}

async function serve() {
  const note = createNote();
  const edge = createProtocol({ resources: note.resources, server: { name: "test", version: "1" } });
  const listening = await listen(edge, { port: 0, graceMs: 1000 });
  const client = createWireClient(listening.port);
  onTestFinished(async () => {
    client.close();
    await listening.close();
  });
  return { ...client, note, listening, edge };
}

const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function modern(id: number, method: string, params: Record<string, unknown> = {}) {
  const name = typeof params["uri"] === "string" ? { "Mcp-Name": params["uri"] } : {};
  return {
    headers: { "MCP-Protocol-Version": version, "Mcp-Method": method, ...name },
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
  };
}

const legacy = (id: number, method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const dataOf = async (stream: EventReader) => JSON.parse((await stream.next())?.data ?? "null") as unknown;

describe("the modern era over HTTP", () => {
  it("reads, and reports what does not exist, without a session", async () => {
    const { ask } = await serve();
    const answer = await ask(modern(1, "resources/read", { uri: "note://a" }));
    expect(answer.status).toBe(200);
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    expect(answer.json()).toMatchObject({ id: 1, result: { contents: [{ uri: "note://a", text: "first" }] } });
    const missing = await ask(modern(2, "resources/read", { uri: "note://b" }));
    expect(missing.json()).toMatchObject({ id: 2, error: { code: -32602, data: { uri: "note://b" } } });
  });

  it("returns the required statuses (MOD-61, MOD-62, MOD-67)", async () => {
    const { ask } = await serve();
    const unknown = await ask(modern(3, "resources/subscribe", { uri: "note://a" }));
    expect([unknown.status, unknown.json()]).toMatchObject([404, { id: 3, error: { code: -32601 } }]);
    const { headers, body } = modern(4, "resources/list");
    const mismatched = await ask({ headers: { ...headers, "Mcp-Method": "resources/read" }, body });
    expect([mismatched.status, mismatched.json()]).toMatchObject([400, { id: 4, error: { code: -32020 } }]);
    const bare = await ask({ headers, body: legacy(5, "resources/list") });
    expect([bare.status, bare.json()]).toMatchObject([400, { id: 5, error: { code: -32602 } }]);
  });

  it("listens: acknowledged first, then each change, until the listener disconnects", async () => {
    const { listen: open, note } = await serve();
    const ask = modern(9, "subscriptions/listen", { notifications: { resourceSubscriptions: ["note://a"] } });
    const stream = await open(ask);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(await dataOf(stream)).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    note.change("second");
    expect(await dataOf(stream)).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "note://a", _meta: { "io.modelcontextprotocol/subscriptionId": 9 } },
    });
    stream.hangUp();
    while (note.watchers.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it("ends a listen with its result when the server closes (MOD-36)", async () => {
    const { listen: open, listening } = await serve();
    const stream = await open(modern(9, "subscriptions/listen", { notifications: { resourcesListChanged: true } }));
    await stream.next();
    const closed = listening.server.listening && listening.close();
    expect(await dataOf(stream)).toMatchObject({
      id: 9,
      result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 9 } },
    });
    expect(await stream.next()).toBeUndefined();
    await closed;
  });

  it("ends with one handler only what came through it", async () => {
    const { listen: open, ask, edge, listening } = await serve();
    const request = modern(9, "subscriptions/listen", { notifications: { resourcesListChanged: true } });
    const stream = await open(request);
    await stream.next();
    const handler = createFetchHandler(edge);
    const fetch = ({ headers, body }: ReturnType<typeof modern>) =>
      handler.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
    const { body } = await fetch(request);
    const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain("acknowledged");
    const closed = handler.close();
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value;
    expect(rest).toContain('"resultType":"complete"');
    await closed;
    expect((await fetch(modern(1, "resources/list"))).status).toBe(503);
    // The other one goes on.
    expect((await ask(modern(2, "resources/list"))).status).toBe(200);
    expect(listening.http.counts.streams).toBe(1);
    await listening.close();
    expect(await dataOf(stream)).toMatchObject({ id: 9, result: { resultType: "complete" } });
  });

  it("knows no GET and no DELETE (MOD-65)", async () => {
    const { ask } = await serve();
    for (const method of ["GET", "DELETE"])
      expect((await ask({ method, headers: { "MCP-Protocol-Version": version } })).status).toBe(405);
  });
});

describe("the older revisions over HTTP", () => {
  it.each(["2025-03-26", "2025-06-18", "2025-11-25"])(
    "%s subscribes, and hears of changes on its stream",
    async (revision) => {
      const { ask, listen: open, initialize, note } = await serve();
      const headers = { "Mcp-Session-Id": await initialize(revision), "MCP-Protocol-Version": revision };
      expect((await ask({ headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } })).status).toBe(202);
      const read = await ask({ headers, body: legacy(1, "resources/read", { uri: "note://a" }) });
      expect(read.json()).toMatchObject({ id: 1, result: { contents: [{ text: "first" }] } });
      expect(
        (await ask({ headers, body: legacy(2, "resources/subscribe", { uri: "note://a" }) })).json(),
      ).toMatchObject({ id: 2, result: {} });

      // Nobody listens yet, so it waits.
      note.change("second");
      const stream = await open({ method: "GET", headers });
      if (revision === "2025-11-25") expect(await stream.next()).toMatchObject({ id: "1-0", data: "" });
      expect(await dataOf(stream)).toMatchObject({
        method: "notifications/resources/updated",
        params: { uri: "note://a" },
      });

      expect((await ask({ method: "DELETE", headers })).status).toBe(204);
      expect((await ask({ headers, body: legacy(3, "resources/list") })).status).toBe(404);
      while (note.watchers.size > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  );

  it("takes a batch where the revision has them, and refuses it elsewhere (LEG-34, LEG-46)", async () => {
    const { ask, initialize } = await serve();
    const batch = [legacy(1, "ping"), legacy(2, "ping"), { jsonrpc: "2.0", method: "notifications/initialized" }];
    const old = await ask({ headers: { "Mcp-Session-Id": await initialize("2025-03-26") }, body: batch });
    expect([old.status, old.json()]).toMatchObject([200, [{ id: 1 }, { id: 2 }]]);
    const later = await ask({ headers: { "Mcp-Session-Id": await initialize("2025-06-18") }, body: batch });
    expect([later.status, later.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  it("2024-11-05 answers and announces on its one stream", async () => {
    const { ask, listen: open, note } = await serve();
    const stream = await open({ method: "GET", path: "/sse" });
    const path = (await stream.next())?.data ?? "";
    await ask({ path, body: legacy(0, "initialize", { protocolVersion: "2024-11-05", capabilities: {} }) });
    expect(await dataOf(stream)).toMatchObject({ id: 0, result: { protocolVersion: "2024-11-05" } });
    await ask({ path, body: legacy(1, "resources/subscribe", { uri: "note://a" }) });
    expect(await dataOf(stream)).toMatchObject({ id: 1, result: {} });
    note.change("second");
    expect(await dataOf(stream)).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "note://a" },
    });
    stream.hangUp();
    while (note.watchers.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});

it("both eras are served over one stdio, and a listen ends with the input", async () => {
  const note = createNote();
  const edge = createProtocol({ resources: note.resources, server: { name: "test", version: "1" } });
  const input = new PassThrough();
  const output = new PassThrough();
  const over = serveStdio(edge, { input, output });
  const answers = output.setEncoding("utf8").iterator() as AsyncIterator<string>;
  const say = (message: unknown) => input.write(`${JSON.stringify(message)}\n`);
  const next = async () => JSON.parse((await answers.next()).value as string) as unknown;

  say(modern(1, "resources/read", { uri: "note://a" }).body);
  expect(await next()).toMatchObject({ id: 1, result: { resultType: "complete", contents: [{ text: "first" }] } });
  say(legacy(2, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }));
  expect(await next()).toMatchObject({ id: 2, result: { protocolVersion: "2025-11-25" } });
  say(modern(3, "subscriptions/listen", { notifications: { resourceSubscriptions: ["note://a"] } }).body);
  expect(await next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  note.change("second");
  expect(await next()).toMatchObject({ method: "notifications/resources/updated" });
  input.end();
  await over;
  expect(note.watchers.size).toBe(0);
});

it("a listen over stdio gets its result when the server stops (MOD-36)", async () => {
  const note = createNote();
  const edge = createProtocol({ resources: note.resources, server: { name: "test", version: "1" } });
  const input = new PassThrough();
  const output = new PassThrough();
  const ending = new AbortController();
  const over = serveStdio(edge, { input, output, signal: ending.signal });
  const answers = output.setEncoding("utf8").iterator() as AsyncIterator<string>;
  const next = async () => JSON.parse((await answers.next()).value as string) as unknown;
  const { body } = modern(3, "subscriptions/listen", { notifications: { resourceSubscriptions: ["note://a"] } });
  input.write(`${JSON.stringify(body)}\n`);
  expect(await next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  ending.abort();
  await over;
  output.end();
  expect(await next()).toMatchObject({
    id: 3,
    result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 3 } },
  });
  expect(note.watchers.size).toBe(0);
});
