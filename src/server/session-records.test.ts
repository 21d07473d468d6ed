import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { unavailable } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import type { InputRequest } from "../protocol/input-required.ts";
import type { Tool } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import type { Bus, BusMessage } from "../state/bus.ts";
import { createMemoryBus } from "../state/memory-bus.ts";
import { createTestStore } from "../state/test-store.ts";
import { listen, type ListenOptions } from "../transport/listen.ts";
import { createWireClient, type EventReader, type WireClient } from "../transport/test-client.ts";
import { createRuntime } from "./runtime.ts";
import { createSessionRecords, sessionKind } from "./session-records.ts";

const nothingElse = { subscriptions: [], requestSecret: "key" };
const runtime = createRuntime({ write: () => true });
const callers: Readonly<Record<string, Caller>> = { aki: { id: "aki" }, bot: { id: "bot" } };
const [a, b] = ["memory://m/a", "memory://m/b"];

const form: InputRequest = {
  method: "elicitation/create",
  params: { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } },
};
/** Asks the person once, then repeats the answer. */
const askTool: Tool = {
  name: "ask",
  description: "Asks",
  inputSchema: { type: "object" },
  call: async (_args, { inputResponses }) =>
    inputResponses
      ? { content: [{ type: "text", text: JSON.stringify(inputResponses) }] }
      : { inputRequests: { who: form } },
};

/** Instances of one server: each has a protocol and sessions of its own, and they share a store and a bus. */
function createCluster() {
  const store = createTestStore();
  const memoryBus = createMemoryBus(runtime);
  let isBusAway = false;
  const bus: Bus = withMembers<Bus>(memoryBus, {
    publish: async (message) => {
      // As an engine that never received it: nobody gets the message, or a gap.
      if (isBusAway) throw unavailable("the bus is away");
      return memoryBus.publish(message);
    },
  });
  const memory = createMemory({ a: "one", b: "one" });
  let count = 0;
  return {
    store,
    bus,
    takeBusAway: (isAway: boolean) => void (isBusAway = isAway),
    /** Returns what brings it back. */
    takeSourceAway() {
      const { source } = memory;
      const { stat, read } = source;
      Object.assign(source, { stat: refuse, read: refuse });
      return () => void Object.assign(source, { stat, read });
    },
    memory,
    async start(options: Partial<ListenOptions> = {}) {
      const resources = createResources({
        mounts: [{ name: "m", base: "memory://m/", source: memory.source }],
        policy: openPolicy,
        runtime,
        cursorKey: new Uint8Array(32),
      });
      const protocol = createProtocol({ resources, server: { name: "test", version: "1" }, tools: [askTool] });
      const listening = await listen(protocol, {
        port: 0,
        graceMs: 0,
        log: () => undefined,
        identify: ({ headers }) => callers[String(headers["x-caller"] ?? "aki")],
        records: createSessionRecords({ shared: { instance: `${(count += 1)}`, store, bus }, runtime }),
        ...options,
      });
      const client = createWireClient(listening.port);
      const close = async () => {
        client.close();
        await listening.close();
        await resources.close();
      };
      onTestFinished(close);
      return {
        ...client,
        close,
        listening,
        /** The result of a request of this session. */
        async request(session: string, method: string, params: object = {}, caller = "aki") {
          const headers = { "Mcp-Session-Id": session, "X-Caller": caller };
          const answer = await client.ask({ headers, body: { jsonrpc: "2.0", id: 7, method, params } });
          return { status: answer.status, text: answer.text };
        },
        /** As a client says that it is ready. */
        ready: (session: string) =>
          client.ask({
            headers: { "Mcp-Session-Id": session },
            body: { jsonrpc: "2.0", method: "notifications/initialized" },
          }),
        open: (session: string, lastEventId?: string) =>
          client.listen({
            method: "GET",
            headers: { "Mcp-Session-Id": session, ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) },
          }),
      };
    },
  };
}

const ended = /this session has ended or does not exist/;

/** Reads notifications until this one; returns those before it and itself. */
async function until(stream: EventReader, method: string, uri?: string): Promise<string[]> {
  const seen: string[] = [];
  for (;;) {
    const event = await stream.next();
    if (!event) throw new Error(`the stream ended; seen: ${seen.join(", ")}`);
    if (!event.data) continue;
    const said = JSON.parse(event.data) as { method: string; params?: { uri?: string } };
    seen.push([said.method, said.params?.uri].filter(Boolean).join(" "));
    if (said.method === method && said.params?.uri === uri) return seen;
  }
}

const updated = "notifications/resources/updated";
const listChanged = "notifications/resources/list_changed";
const refuse = async () => Promise.reject(unavailable("the source is away"));

/** Starts a call on this instance that asks the person, and returns the id of the question. */
async function ask(instance: WireClient) {
  const opened = await instance.ask({
    body: {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } },
    },
  });
  const headers = { "Mcp-Session-Id": String(opened.headers["mcp-session-id"]) };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask", arguments: {} } };
  const stream = await instance.listen({
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: call,
  });
  let event = await stream.next();
  while (event && !event.data) event = await stream.next();
  return { headers, stream, id: (JSON.parse(event?.data ?? "{}") as { id: string }).id };
}
const answer = (id: unknown) => ({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Ada" } } });

describe("a session of two instances", () => {
  it("is continued by the other one, which extends its record once and writes nothing else for plain requests", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    expect(cluster.store.writes).toBe(1);
    for (const instance of [other, one, other])
      expect(await instance.request(session, "resources/read", { uri: a })).toEqual({
        status: 200,
        text: expect.stringContaining('"text":"one"'),
      });
    await vi.waitUntil(() => cluster.store.writes > 1);
    await other.request(session, "ping");
    expect(cluster.store.writes).toBe(2);
    expect(other.listening.http.counts.sessions).toBe(1);
  });

  it("answers another caller as if it did not exist", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    const missing = await other.request(crypto.randomUUID(), "ping", {}, "bot");
    expect(missing).toEqual({ status: 404, text: expect.stringMatching(ended) });
    const answers = await Promise.all([
      other.request(session, "ping", {}, "bot"),
      other.request(session, "ping"),
      other.request(session, "ping", {}, "bot"),
      one.request(session, "ping", {}, "bot"),
    ]);
    expect(answers).toEqual([missing, { status: 200, text: expect.any(String) }, missing, missing]);
  });

  it("announces everything once when its stream opens on the other one, and every later change", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    expect((await one.request(session, "resources/subscribe", { uri: a })).status).toBe(200);
    expect((await one.request(session, "resources/subscribe", { uri: b })).status).toBe(200);
    expect((await one.request(session, "resources/unsubscribe", { uri: b })).status).toBe(200);
    const stream = await other.open(session);
    expect(await until(stream, updated, a)).toEqual([listChanged, `${updated} ${a}`]);
    cluster.memory.set("b", "two");
    cluster.memory.set("a", "two");
    expect(await until(stream, updated, a)).not.toContain(`${updated} ${b}`);
    cluster.memory.set("c", "new");
    await until(stream, listChanged);
  });

  it("hears of a subscription that the other instance received", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    const stream = await one.open(session);
    expect((await other.request(session, "resources/subscribe", { uri: a })).status).toBe(200);
    expect(await until(stream, updated, a)).toEqual([`${updated} ${a}`]);
    cluster.memory.set("a", "two");
    await until(stream, updated, a);
    expect((await other.request(session, "resources/unsubscribe", { uri: a })).status).toBe(200);
    expect((await other.request(session, "resources/subscribe", { uri: b })).status).toBe(200);
    await until(stream, updated, b);
    cluster.memory.set("a", "three");
    cluster.memory.set("b", "two");
    expect(await until(stream, updated, b)).not.toContain(`${updated} ${a}`);
  });

  it("hears of a repeated subscribe and unsubscribe whose first attempt was stored and not published", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    const stream = await one.open(session);
    async function repeat(method: string, uri: string): Promise<void> {
      cluster.takeBusAway(true);
      expect((await other.request(session, method, { uri })).text).toContain("the bus is away");
      cluster.takeBusAway(false);
      expect((await other.request(session, method, { uri })).text).toContain('"result"');
    }
    await repeat("resources/subscribe", a);
    expect(await until(stream, updated, a)).toEqual([`${updated} ${a}`]);
    await repeat("resources/unsubscribe", a);
    await repeat("resources/subscribe", b);
    await until(stream, updated, b);
    cluster.memory.set("a", "two");
    cluster.memory.set("b", "two");
    expect(await until(stream, updated, b)).not.toContain(`${updated} ${a}`);
  });

  it("keeps a subscription that is being stored while the other instance stores one", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    const stream = await one.open(session);
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { put } = cluster.store;
    cluster.store.put = async (kind, key, value, options) => {
      if (JSON.stringify(value).includes(b)) {
        reached.resolve();
        await gate.promise;
      }
      return put(kind, key, value, options);
    };
    const subscribed = one.request(session, "resources/subscribe", { uri: b });
    await reached.promise;
    await other.request(session, "resources/subscribe", { uri: a });
    await until(stream, updated, a);
    gate.resolve();
    expect((await subscribed).status).toBe(200);
    cluster.memory.set("b", "two");
    expect(await until(stream, updated, b)).toEqual([`${updated} ${b}`]);
  });

  it("announces the lists when its stream opens, if the other instance was told that the client is ready", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await other.ready(session);
    await other.request(session, "resources/list");
    cluster.memory.set("c", "new");
    await until(await one.open(session), listChanged);
  });

  it("ends on both", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    const stream = await one.open(session);
    const deleted = await other.ask({ method: "DELETE", headers: { "Mcp-Session-Id": session } });
    expect(deleted.status).toBe(204);
    await stream.rest();
    for (const instance of [one, other])
      expect(await instance.request(session, "ping")).toEqual({ status: 404, text: expect.stringMatching(ended) });
    expect(await cluster.store.list(sessionKind)).toEqual([]);
  });

  it("ends on both when a DELETE is repeated that failed on the bus, and for its owner alone", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    const end = async (caller = "aki") =>
      (await other.ask({ method: "DELETE", headers: { "Mcp-Session-Id": session, "X-Caller": caller } })).status;
    expect(await end("bot")).toBe(404);
    cluster.takeBusAway(true);
    expect(await end()).toBe(503);
    expect((await other.request(session, "ping")).status).toBe(404);
    expect(await end("bot")).toBe(404);
    cluster.takeBusAway(false);
    expect([await end(), await end()]).toEqual([204, 404]);
    for (const instance of [one, other]) expect((await instance.request(session, "ping")).status).toBe(404);
    expect(await cluster.store.list(sessionKind)).toEqual([]);
  });

  it("ends here too, if a request continues it while it is being removed", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { get } = cluster.store;
    cluster.store.get = async (kind, key) => {
      const found = await get(kind, key);
      reached.resolve();
      await gate.promise;
      return found;
    };
    const ping = other.request(session, "ping");
    await reached.promise;
    cluster.store.get = get;
    const deleted = await other.ask({ method: "DELETE", headers: { "Mcp-Session-Id": session } });
    gate.resolve();
    expect([deleted.status, (await ping).status]).toEqual([204, 404]);
    expect(other.listening.http.counts.sessions).toBe(0);
  });

  it("takes an event id of the other instance, and announces everything", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.request(session, "resources/subscribe", { uri: a });
    const greeting = await (await one.open(session)).next();
    expect(greeting?.id).toMatch(/^[0-9a-f]{8}\.[0-9a-z]+-0$/);
    const moved = await other.open(session, greeting?.id);
    const seen = await moved.next();
    expect([moved.status, seen?.id?.split(".")[0] === greeting?.id?.split(".")[0]]).toEqual([200, false]);
    expect(await until(moved, updated, a)).toEqual([listChanged, `${updated} ${a}`]);
    // And back: changes were perhaps missed again.
    const back = await one.open(session, seen?.id);
    expect(await until(back, updated, a)).toContain(listChanged);
  });

  it("survives the end of the instance that it began on", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.request(session, "resources/subscribe", { uri: a });
    const stream = await one.open(session);
    await one.close();
    await stream.rest();
    await until(await other.open(session), updated, a);
  });

  it("cancels a request that runs on the other instance", async () => {
    const cluster = createCluster();
    const started = Promise.withResolvers<AbortSignal>();
    cluster.memory.source.read = async (_at, { signal }) => {
      started.resolve(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    };
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    const reading = one.request(session, "resources/read", { uri: a });
    const signal = await started.promise;
    const body = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await other.ask({ headers: { "Mcp-Session-Id": session }, body })).status).toBe(202);
    await reading;
    expect(signal.aborted).toBe(true);
  });

  it("receives the answer of a person through the other instance", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const { headers, stream, id } = await ask(one);
    expect((await other.ask({ headers, body: answer(id) })).status).toBe(202);
    expect((await stream.next())?.data).toContain("Ada");
  });

  it("passes on no answer to what no instance asked in this session, and of a cancellation only the id", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const [own, stranger] = [await ask(one), await ask(one)];
    const published: string[] = [];
    const listening = new AbortController();
    onTestFinished(() => listening.abort());
    const subscriber = {
      message: ({ body }: BusMessage) => void published.push(JSON.stringify(body)),
      gap: () => undefined,
    };
    await cluster.bus.subscribe("sessions", subscriber, listening.signal);
    const invented = [
      stranger.id,
      crypto.randomUUID(),
      own.id.split(".")[0],
      `${own.id}x`,
      "x".repeat(200_000),
      7,
      null,
    ];
    for (const id of invented) expect((await other.ask({ headers: own.headers, body: answer(id) })).status).toBe(202);
    const cancelled = { method: "notifications/cancelled", params: { requestId: 5, reason: "x".repeat(1000) } };
    await other.ask({ headers: own.headers, body: { jsonrpc: "2.0", ...cancelled } });
    await other.ask({ headers: own.headers, body: answer(own.id) });
    expect((await own.stream.next())?.data).toContain("Ada");
    expect(published.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { news: { body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } } } },
      { news: { body: answer(own.id) } },
    ]);
    expect(published.join()).not.toContain("xxx");
  });

  it("keeps a subscription whose resource is missing while its stream moves, and announces when it is back", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    for (const uri of [a, b]) await one.request(session, "resources/subscribe", { uri });
    cluster.memory.delete("a");
    const stream = await other.open(session);
    await until(stream, updated, b);
    expect(other.listening.http.counts.sessions).toBe(1);
    cluster.memory.set("a", "again");
    await until(stream, updated, a);
    cluster.memory.set("a", "more");
    await until(stream, updated, a);
  });

  it("keeps a subscription whose source is away while its stream moves, and announces what may have been missed", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    await one.request(session, "resources/subscribe", { uri: a });
    const back = cluster.takeSourceAway();
    const stream = await other.open(session);
    expect(await until(stream, updated, a)).toEqual([listChanged, `${updated} ${a}`]);
    back();
    expect(await until(stream, updated, a)).toEqual([`${updated} ${a}`]);
    cluster.memory.set("a", "two");
    await until(stream, updated, a);
  });

  it("forgets a subscription that is ended while its resource is missing", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    await one.ready(session);
    for (const uri of [a, b]) await one.request(session, "resources/subscribe", { uri });
    cluster.memory.delete("a");
    const stream = await other.open(session);
    await until(stream, updated, b);
    expect((await one.request(session, "resources/unsubscribe", { uri: a })).text).toContain('"result"');
    expect((await other.request(session, "resources/unsubscribe", { uri: a })).text).toContain('"result"');
    cluster.memory.set("a", "again");
    await until(stream, listChanged);
    cluster.memory.set("b", "two");
    expect(await until(stream, updated, b)).not.toContain(`${updated} ${a}`);
  });

  it("keeps a subscription when the same one cannot be stored again", async () => {
    const cluster = createCluster();
    const one = await cluster.start();
    const session = await one.initialize();
    await one.ready(session);
    const stream = await one.open(session);
    await one.request(session, "resources/subscribe", { uri: a });
    cluster.store.takeAway(true);
    expect((await one.request(session, "resources/subscribe", { uri: a })).text).toContain("the store is away");
    cluster.memory.set("a", "while the store is away");
    await until(stream, updated, a);
    cluster.store.takeAway(false);
    // Stored before this one, so what is stored was read again.
    await one.request(session, "resources/subscribe", { uri: b });
    cluster.memory.set("a", "three");
    await until(stream, updated, a);
  });

  it("keeps a subscription whose end cannot be stored", async () => {
    const cluster = createCluster();
    const one = await cluster.start();
    const session = await one.initialize();
    await one.ready(session);
    const stream = await one.open(session);
    await one.request(session, "resources/subscribe", { uri: a });
    cluster.store.takeAway(true);
    expect((await one.request(session, "resources/unsubscribe", { uri: a })).text).toContain("the store is away");
    cluster.store.takeAway(false);
    // Changes may have been missed in between.
    await until(stream, updated, a);
    cluster.memory.set("a", "two");
    await until(stream, updated, a);
  });

  it("is extended by an instance that does not know when another one wrote its record", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start({ now: () => 0 }), await cluster.start({ now: () => 0 })];
    const session = await one.initialize();
    const writtenVersion = async () => (await cluster.store.get(sessionKind, session))?.version;
    const before = await writtenVersion();
    expect((await other.request(session, "ping")).status).toBe(200);
    await vi.waitUntil(async () => (await writtenVersion()) !== before);
  });

  it("is extended while it is used, rarely", async () => {
    const cluster = createCluster();
    let nowMs = 0;
    const one = await cluster.start({ now: () => nowMs, sessionIdleMs: 4000 });
    const session = await one.initialize();
    const { writes } = cluster.store;
    nowMs = 999;
    await one.request(session, "ping");
    expect(cluster.store.writes).toBe(writes);
    nowMs = 1000;
    for (let times = 0; times < 3; times += 1) await one.request(session, "ping");
    await vi.waitUntil(() => cluster.store.writes > writes);
    await one.request(session, "ping");
    expect(cluster.store.writes).toBe(writes + 1);
  });

  it("is not given up while the store is away", async () => {
    const cluster = createCluster();
    const [one, other] = [await cluster.start(), await cluster.start()];
    const session = await one.initialize();
    cluster.store.takeAway(true);
    expect((await one.request(session, "ping")).status).toBe(200);
    expect((await other.request(session, "ping")).status).toBe(503);
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const refused = await other.ask({ body });
    expect([refused.status, refused.headers["retry-after"], refused.headers["mcp-session-id"]]).toEqual([
      503,
      "1",
      undefined,
    ]);
    expect(other.listening.http.counts.sessions).toBe(0);
    const failed = await one.request(session, "resources/subscribe", { uri: a });
    expect(failed.text).toContain("the store is away");
    cluster.store.takeAway(false);
    expect((await other.request(session, "ping")).status).toBe(200);
  });
});

it("writes many changes of a session together, and loses none", async () => {
  const { store, bus } = createCluster();
  const records = ["1", "2"].map((instance) => createSessionRecords({ shared: { instance, store, bus }, runtime }));
  await records[0]!.create("id", "aki", { revision: "2025-11-25", client: {}, capabilities: {}, ...nothingElse });
  const uris = Array.from({ length: 100 }, (_, at) => `memory://m/${at}`);
  const updates = uris.map((uri, at) => records[at % 2]!.update("id", { kind: "subscribed", uri }));
  expect(new Set(await Promise.all(updates))).toEqual(new Set([true]));
  expect(store.writes).toBeLessThan(50);
  const found = await records[0]!.find("id", "aki");
  expect(found?.subscriptions.toSorted()).toEqual(uris.toSorted());
  expect(await records[0]!.find("id", "bot")).toBeUndefined();
  expect(await records[0]!.update("gone", { kind: "subscribed", uri: a! })).toBe(false);
});

it("stores a limited amount of new sessions for each caller, because a client may begin any number", async () => {
  const { store, bus } = createCluster();
  let nowMs = 0;
  const records = createSessionRecords({
    shared: { instance: "1", store, bus },
    runtime: { ...runtime, monotonicMs: () => nowMs },
    sessionIdleMs: 1000,
    maxNewBytes: 10_000,
  });
  const begin = (id: string, owner: string) =>
    records.create(id, owner, {
      revision: "2025-11-25",
      client: {},
      capabilities: { experimental: { x: "x".repeat(4000) } },
      ...nothingElse,
    });
  await begin("1", "aki");
  await begin("2", "aki");
  await expect(begin("3", "aki")).rejects.toMatchObject({ kind: "busy" });
  await begin("4", "bot");
  expect((await store.list(sessionKind)).map(({ key }) => key)).toEqual(["1", "2", "4"]);
  nowMs = 1250;
  await begin("5", "aki");
});

it("limits the subscriptions of a session, and those that one caller adds, by their length", async () => {
  const store = createTestStore();
  const shared = { instance: "1", store, bus: createMemoryBus(runtime) };
  const records = createSessionRecords({ shared, runtime, maxNewBytes: 1_500_000 });
  const session = { revision: "2025-11-25", client: {}, capabilities: {}, subscriptions: [], requestSecret: "secret" };
  for (const id of ["1", "2"]) await records.create(id, "aki", session);
  const subscribe = (id: string, uri: string) => records.update(id, { kind: "subscribed", uri });
  const [nearlyAll, half] = ["a".repeat(900_000), "c".repeat(500_000)];
  const fifth = "b".repeat(200_000);
  expect(await subscribe("1", nearlyAll)).toBe(true);
  await expect(subscribe("1", fifth)).rejects.toMatchObject({
    kind: "busy",
    message: expect.stringMatching(/too long/),
  });
  expect(await subscribe("2", half)).toBe(true);
  await expect(subscribe("2", fifth)).rejects.toMatchObject({
    kind: "busy",
    message: expect.stringMatching(/too many/),
  });
  expect(await records.update("1", { kind: "unsubscribed", uri: nearlyAll })).toBe(true);
  expect(await subscribe("1", "m://e")).toBe(true);
  const stored = await Promise.all(["1", "2"].map(async (id) => (await records.find(id, "aki"))?.subscriptions.length));
  expect(stored).toEqual([1, 1]);
});

it("passes on a limited amount of responses for each caller, and less of cancellations", async () => {
  const { store, bus } = createCluster();
  let nowMs = 0;
  const records = createSessionRecords({
    shared: { instance: "1", store, bus },
    runtime: { ...runtime, monotonicMs: () => nowMs },
    maxResponseBytes: 10_000,
    maxCancellationBytes: 900,
  });
  const response = { jsonrpc: "2.0", id: "a", result: { text: "x".repeat(4000) } };
  const cancellation = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  for (const [body, most] of [
    [response, 2],
    [cancellation, 2],
  ] as const) {
    for (let count = 0; count < most; count += 1) await records.forward("id", "aki", body);
    await expect(records.forward("id", "aki", body)).rejects.toMatchObject({ kind: "busy" });
    await records.forward("id", "bot", body);
  }
  nowMs = 600_000;
  await records.forward("id", "aki", response);
  const long = { ...cancellation, params: { requestId: "x".repeat(1024) } };
  await expect(records.forward("id", "aki", long)).rejects.toMatchObject({ kind: "too-large" });
});
