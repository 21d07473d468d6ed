import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createProtocol } from "./create-protocol.ts";
import type { Reply, WireBytes } from "./protocol.ts";

const textOf = (wire: WireBytes) => wire.map((piece) => Buffer.from(piece as string).toString()).join("");
const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const read = (id: number, params: object = {}) => request(id, "resources/read", { uri: "m://a", ...params });
const subscribe = (id: number) => request(id, "resources/subscribe", { uri: "m://a" });
const cancel = (requestId: number) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A session with one resource; a test may replace parts. */
function open(own: Partial<Resources> = {}) {
  const pressmark = createResources({
    mounts: [{ name: "m", base: "m://", source: createMemory({ a: "text" }).source }],
    policy: openPolicy,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
  const resources = { ...pressmark, ...own };
  const edge = createProtocol({ resources, server: { name: "test", version: "1" } });
  const sent: unknown[] = [];
  const send = (wire: WireBytes) => void sent.push((JSON.parse(textOf(wire)) as { method: string }).method);
  const peer = { caller: { id: "me" }, signal: new AbortController().signal, send };
  const session = edge.session(peer, { modern: true });

  function ask(body: unknown) {
    const said: unknown[] = [];
    const ends: unknown[] = [];
    const answered = Promise.withResolvers<unknown>();
    const reply: Reply = {
      notify: (wire) => void said.push(JSON.parse(textOf(wire))),
      end(wire) {
        const answer: unknown = wire && JSON.parse(textOf(wire));
        ends.push(answer);
        answered.resolve(answer);
      },
    };
    session.receive(body, reply);
    return { said, ends, answer: answered.promise };
  }
  ask(request(0, "initialize", { protocolVersion: "2025-03-26", capabilities: {} }));
  return { session, ask, sent, read: pressmark.read, watch: pressmark.watch };
}

/** A session whose watches are armed on demand. */
function openSlow() {
  const release = Promise.withResolvers<void>();
  const calls: Call[] = [];
  const { ask, sent, watch } = open({
    watch: async (filter, call) => {
      calls.push(call);
      await release.promise;
      return watch(filter, call);
    },
  });
  return { ask, sent, release, calls };
}

/** Long enough for deferred work to finish. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

describe("a batch", () => {
  it.each([1, 2, 3, 4, 5, 9])(
    "of %i is answered once, with an answer to each of its requests (LEG-34)",
    async (count) => {
      const { ask } = open();
      const batch = Array.from({ length: count }, (_, id) => read(id));
      const { answer, ends } = ask(batch);
      const answers = (await answer) as { id: number; result?: object }[];
      expect(answers.map(({ id }) => id).sort()).toEqual(batch.map(({ id }) => id));
      expect(answers.every(({ result }) => result !== undefined)).toBe(true);
      await someTurns();
      expect(ends).toHaveLength(1);
    },
  );

  it("begins nothing more once its session has ended, and ends once", async () => {
    let reads = 0;
    const { ask, session } = open({
      read: () => {
        reads += 1;
        session.close();
        return Promise.reject(new Error("closed"));
      },
    });
    const { answer, ends } = ask(Array.from({ length: 100 }, (_, id) => read(id)));
    await answer;
    await someTurns();
    expect(reads).toBeLessThanOrEqual(2);
    expect(ends).toHaveLength(1);
  });

  it("holds no modern requests: a listen would keep back the answers to all others (MOD-1)", async () => {
    const { ask } = open();
    const listen = request(1, "subscriptions/listen", { _meta: meta, notifications: { resourcesListChanged: true } });
    const { answer, said } = ask([listen, request(2, "ping")]);
    expect(await answer).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32601, message: expect.any(String) as string } },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
    expect(said).toEqual([]);
  });

  it("sends nothing more for a request after its response (LEG-64)", async () => {
    const other = Promise.withResolvers<void>();
    const first = Promise.withResolvers<Call>();
    const { ask, read: reallyRead } = open({
      read: async (uri, call) => {
        if (call.progress) first.resolve(call);
        else await other.promise;
        return reallyRead(uri, call);
      },
    });
    const { answer, said } = ask([read(1, { _meta: { progressToken: "t" } }), read(2)]);
    const { progress } = await first.promise;
    progress?.(1);
    await someTurns();
    progress?.(2);
    other.resolve();
    await answer;
    expect(said).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "t", progress: 1 } },
    ]);
  });
});

it("the id of a cancelled request is free immediately, even if its work does not stop (MOD-1, MOD-53)", async () => {
  const stuck = Promise.withResolvers<void>();
  let reads = 0;
  const { ask, read: reallyRead } = open({
    read: async (uri, call) => {
      reads += 1;
      if (reads === 1) await stuck.promise;
      return reallyRead(uri, call);
    },
  });
  const first = ask(read(1, { _meta: meta }));
  ask(cancel(1));
  const second = ask(read(1, { _meta: meta }));
  expect(await second.answer).toMatchObject({ id: 1, result: { contents: [{ text: "text" }] } });
  stuck.resolve();
  expect(await first.answer).toBeUndefined();
});

describe("a subscription that is cancelled before it is armed", () => {
  it("does not stand (LEG-63)", async () => {
    const { ask, release, calls } = openSlow();
    const { answer } = ask(subscribe(1));
    ask(cancel(1));
    release.resolve();
    expect(await answer).toBeUndefined();
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(await ask(subscribe(2)).answer).toMatchObject({ id: 2, result: {} });
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it("stays for another request that was not cancelled", async () => {
    const { ask, release, calls } = openSlow();
    const answers = [ask(subscribe(1)).answer, ask(subscribe(2)).answer, ask(subscribe(3)).answer];
    ask(cancel(1));
    ask(cancel(3));
    release.resolve();
    expect(await Promise.all(answers)).toEqual([undefined, { jsonrpc: "2.0", id: 2, result: {} }, undefined]);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false]);
  });
});

describe("a list whose watch takes long to arm", () => {
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

  it("is sent anyway, and only clients that have one are told to list again", async () => {
    const asker = openSlow();
    asker.ask(initialized);
    expect(await asker.ask(request(1, "resources/list")).answer).toMatchObject({
      result: { resources: [{ uri: "m://a" }] },
    });
    asker.release.resolve();
    // Not earlier: its own time would be over now.
    const other = openSlow();
    other.ask(initialized);
    other.release.resolve();
    expect(await other.ask(request(1, "resources/list")).answer).toMatchObject({ result: {} });
    await someTurns();
    expect([asker.sent, other.sent]).toEqual([["notifications/resources/list_changed"], []]);
  });

  it("was sent before it was watched: clients that have it are told to list again", async () => {
    const { ask, sent, release } = openSlow();
    release.resolve();
    await ask(request(1, "resources/list")).answer;
    ask(initialized);
    await ask(request(2, "resources/list")).answer;
    await someTurns();
    expect(sent).toEqual(["notifications/resources/list_changed"]);
  });
});

it("what a resource does not offer is no missing method: the same question about another is answered", async () => {
  const { ask } = open({ read: () => Promise.reject(new ResourceError("unsupported", "no text can be had of this")) });
  const { answer } = ask(read(1));
  expect(await answer).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32603, message: "no text can be had of this" },
  });
});

describe("a resource whose source reports no changes", () => {
  const { watch: _, ...silent } = createMemory({ a: "text" }).source;
  const unwatched = createResources({
    mounts: [
      { name: "m", base: "m://", source: silent },
      { name: "n", base: "n://", source: createMemory({ b: "text" }).source },
    ],
    policy: openPolicy,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });

  it("cannot be subscribed to, and the error says why", async () => {
    const { ask } = open(unwatched);
    expect(await ask(subscribe(1)).answer).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32603,
        message: 'the mount "m" cannot be watched: its source does not report changes',
        data: { uri: "m://a", reason: "unwatchable" },
      },
    });
  });

  it.each([
    [["m://a"], []],
    [["m://a", "n://b"], ["n://b"]],
  ])("is left out of an acknowledged listen: %j", async (uris, kept) => {
    const { ask } = open(unwatched);
    const { said, ends } = ask(
      request(1, "subscriptions/listen", { notifications: { resourceSubscriptions: uris }, _meta: meta }),
    );
    await someTurns();
    expect(said).toMatchObject([{ params: { notifications: { resourceSubscriptions: kept } } }]);
    expect(ends).toEqual([]);
  });
});

it("a listen sends nothing before its acknowledgment, and no progress at all (MOD-32, MOD-38)", async () => {
  const armed = Promise.withResolvers<void>();
  const { ask, watch } = open({
    watch: async (filter, call) => {
      call.progress?.(1);
      const watching = await watch(filter, call);
      armed.resolve();
      return watching;
    },
  });
  const notifications = { resourcesListChanged: true };
  const { said } = ask(request(1, "subscriptions/listen", { notifications, _meta: { ...meta, progressToken: 1 } }));
  await armed.promise;
  await someTurns();
  expect(said).toMatchObject([{ method: "notifications/subscriptions/acknowledged" }]);
});
