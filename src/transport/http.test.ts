import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { Peer, Reply } from "../protocol/protocol.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import { itOnNode, serveFake } from "./test-server.ts";
import { code, modern, question, rawQuestion } from "./test-question.ts";
import { modernHeaders } from "./test-client.ts";

describe("one modern question (MOD-55 to MOD-67)", () => {
  it("is answered as JSON of exact length, with no trace of a session (MOD-57, MOD-65)", async () => {
    const { ask } = await serveFake();
    const answer = await ask({
      ...modern,
      headers: { ...modernHeaders, "Mcp-Session-Id": "mine", "Last-Event-ID": "1-1" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    expect(answer.json()).toEqual({ jsonrpc: "2.0", id: 7, result: { echo: "resources/list" } });
  });

  it("passes its headers to the protocol, whatever the case of their names (MOD-64)", async () => {
    const { ask } = await serveFake({
      exchange: (message, reply, _peer, headers) => reply.end(resultOf(message, headers)),
    });
    const headers = { "mcp-PROTOCOL-version": " 2026-07-28 ", "MCP-METHOD": "resources/read", "mcp-name": "a://B" };
    expect((await ask({ headers, body: question })).json()).toMatchObject({
      result: { version: "2026-07-28", method: "resources/read", name: "a://B" },
    });
  });

  it("gets the status that the protocol returns (MOD-62)", async () => {
    const { ask } = await serveFake({ exchange: (message, reply) => reply.end(resultOf(message), 404) });
    expect((await ask(modern)).status).toBe(404);
  });

  it("that is a notification is taken with 202 and no body (MOD-57)", async () => {
    const { ask } = await serveFake();
    const answer = await ask({ headers: modernHeaders, body: { jsonrpc: "2.0", method: "notifications/x" } });
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });

  it("is answered piece by piece: strings and bytes, small and large", async () => {
    const large = "é".repeat(300_000);
    for (const pieces of [
      ['{"a":', Buffer.from('"é"'), "}"],
      ['{"a":"', Buffer.from(large), `${large}"}`],
    ]) {
      const { ask } = await serveFake({ exchange: (_message, reply) => reply.end(pieces) });
      const answer = await ask(modern);
      expect(answer.text).toBe(pieces.map(String).join(""));
      expect(answer.headers["content-length"]).toBe(String(Buffer.byteLength(answer.text)));
    }
  });

  it("becomes a stream without event ids with the first notification (MOD-58, MOD-59)", async () => {
    const { listen } = await serveFake({
      exchange(message, reply) {
        void reply.notify(wireOf({ n: 1 }));
        void reply.notify(['{"n":', Buffer.from("2"), "}"]);
        reply.end(resultOf(message));
      },
    });
    const stream = await listen(modern);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-content-type-options": "nosniff",
      "x-accel-buffering": "no",
    });
    expect(stream.headers["mcp-session-id"]).toBeUndefined();
    expect(await stream.rest()).toEqual([
      { data: '{"n":1}' },
      { data: '{"n":2}' },
      { data: '{"jsonrpc":"2.0","id":7,"result":{}}' },
    ]);
  });

  it("is cancelled by disconnecting (MOD-60, MOD-68)", async () => {
    const asked = Promise.withResolvers<{ peer: Peer; reply: Reply }>();
    const { listen } = await serveFake({
      exchange(_message, reply, peer) {
        void reply.notify(wireOf({ hello: true }));
        asked.resolve({ peer, reply });
      },
    });
    const stream = await listen(modern);
    await stream.next();
    const { peer, reply } = await asked.promise;
    const cancelled = once(peer.signal, "abort");
    expect(peer.signal.aborted).toBe(false);
    stream.hangUp();
    await cancelled;
    expect(reply.notify(wireOf({ late: true }))).toBeUndefined();
    reply.end(wireOf({ late: true }));
  });

  it("is cancelled by closing half of the connection before the response (MOD-60)", async () => {
    const asked = Promise.withResolvers<Peer>();
    const { raw } = await serveFake({ exchange: (_message, _reply, peer) => asked.resolve(peer) });
    const socket = await raw(rawQuestion);
    const { signal } = await asked.promise;
    socket.end();
    if (!signal.aborted) await once(signal, "abort");
  });

  it("is not cancelled after its response", async () => {
    const signals: AbortSignal[] = [];
    const { ask, listening } = await serveFake({
      exchange(message, reply, peer) {
        signals.push(peer.signal);
        reply.end(resultOf(message));
      },
    });
    const closed = new Promise((resolve) =>
      listening.server.once("request", (_request, response) => response.once("close", resolve)),
    );
    await ask(modern);
    await closed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it("from a client that accepts only JSON gets JSON, without notifications", async () => {
    const { ask } = await serveFake({
      exchange(message, reply) {
        void reply.notify(wireOf({ n: 1 }));
        reply.end(resultOf(message));
      },
    });
    const answer = await ask({ ...modern, headers: { ...modernHeaders, Accept: "application/json" } });
    expect(answer.json()).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
  });

  it("from a reader of events alone is answered as an event", async () => {
    const { listen } = await serveFake();
    const stream = await listen({ ...modern, headers: { ...modernHeaders, Accept: "text/event-stream" } });
    expect(await stream.rest()).toEqual([{ data: '{"jsonrpc":"2.0","id":7,"result":{"echo":"resources/list"}}' }]);
  });

  it("that makes the protocol throw gets 500, and the next one is served", async () => {
    const logged: string[] = [];
    const { ask } = await serveFake(
      {
        exchange(message, reply) {
          if (message.method === "throw") throw new Error("a secret");
          reply.end(resultOf(message));
        },
      },
      { log: (_level, message) => logged.push(message) },
    );
    const answer = await ask({ headers: modernHeaders, body: { ...question, method: "throw" } });
    expect([answer.status, code(answer)]).toEqual([500, -32603]);
    expect(answer.text).not.toContain("secret");
    expect(logged).toEqual(["a request over HTTP failed"]);
    expect((await ask(modern)).status).toBe(200);
  });
});

describe("a slow reader", () => {
  it("makes the protocol wait, so that little is buffered; the rest follows when it reads", async () => {
    const text = "x".repeat(64 * 1024);
    const started = Promise.withResolvers<Reply>();
    const { raw } = await serveFake({ exchange: (_message, reply) => started.resolve(reply) });
    const socket = await raw(rawQuestion);
    socket.pause();
    const reply = await started.promise;
    let pushed = 0;
    let pending: void | Promise<void>;
    do {
      pending = reply.notify([`"${text}"`]);
      pushed++;
    } while (pending === undefined && pushed < 1000);
    expect(pending).toBeInstanceOf(Promise);
    // Our buffers hold 64 KiB and one event; the rest is in the system's.
    expect(pushed).toBeLessThan(200);
    socket.resume();
    await pending;
    socket.destroy();
  });

  itOnNode("that takes nothing for too long is cut off", async () => {
    const started = Promise.withResolvers<{ reply: Reply; peer: Peer }>();
    const { raw } = await serveFake(
      { exchange: (_message, reply, peer) => started.resolve({ reply, peer }) },
      { stallMs: 50 },
    );
    const socket = await raw(rawQuestion);
    socket.pause();
    const { reply, peer } = await started.promise;
    const { signal } = peer;
    let pending: void | Promise<void>;
    do pending = reply.notify([`"${"x".repeat(256 * 1024)}"`]);
    while (pending === undefined);
    if (!signal.aborted) await once(signal, "abort");
    await pending;
  });

  it("of a quiet stream gets comments, and is never disconnected", async () => {
    const started = Promise.withResolvers<Reply>();
    const { listen } = await serveFake(
      {
        exchange(_message, reply) {
          void reply.notify(wireOf({ hello: true }));
          started.resolve(reply);
        },
      },
      { keepAliveMs: 5, stallMs: 20 },
    );
    const stream = await listen(modern);
    for (let count = 0; count < 20; count++) await stream.comment();
    (await started.promise).end(wireOf({ done: true }));
    expect(await stream.rest()).toEqual([{ data: '{"hello":true}' }, { data: '{"done":true}' }]);
  });
});

/** Fills every buffer. Resolves when the reader has caught up, or is gone. */
function stuff(reply: Reply): Promise<void> {
  const wire = [JSON.stringify("x".repeat(256 * 1024))];
  for (;;) {
    const pending = reply.notify(wire);
    if (pending) return pending;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("a stream", () => {
  itOnNode("on which nothing happens is not cut off for that, even without comments", async () => {
    const replies: Reply[] = [];
    const { listen, raw, listening } = await serveFake(
      {
        exchange(_message, reply) {
          void reply.notify(wireOf({ hello: true }));
          replies.push(reply);
        },
      },
      { keepAliveMs: 0, stallMs: 10 },
    );
    const stream = await listen(modern);
    // A later stream that is not read is disconnected.
    const requested = once(listening.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const other = await raw(rawQuestion);
    other.pause();
    const [, response] = await requested;
    const closed = once(response, "close");
    while (replies.length < 2) await turn();
    await stuff(replies[1] as Reply);
    await closed;
    replies[0]?.end(wireOf({ done: true }));
    expect(await stream.rest()).toEqual([{ data: '{"hello":true}' }, { data: '{"done":true}' }]);
  });

  itOnNode("that has ended is cut off, too, when the rest of it is not read", async () => {
    const started = Promise.withResolvers<Reply>();
    const { raw, listening } = await serveFake(
      { exchange: (_message, reply) => started.resolve(reply) },
      { stallMs: 20 },
    );
    const requested = once(listening.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const socket = await raw(rawQuestion);
    socket.pause();
    const [, response] = await requested;
    const reply = await started.promise;
    const closed = once(response, "close");
    void stuff(reply);
    reply.end(wireOf({ done: true }));
    expect(listening.http.counts.streams).toBe(0);
    await closed;
    expect(response.writableFinished).toBe(false);
  });

  itOnNode("whose reader has caught up stays open", async () => {
    const started = Promise.withResolvers<Reply>();
    const { listen, listening } = await serveFake(
      {
        exchange(_message, reply) {
          void reply.notify(wireOf({ hello: true }));
          started.resolve(reply);
        },
      },
      { keepAliveMs: 5, stallMs: 200 },
    );
    const requested = once(listening.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const stream = await listen(modern);
    await stream.next();
    const [, response] = await requested;
    const reply = await started.promise;
    stream.pause();
    const caughtUp = stuff(reply);
    while (!response.socket?.timeout) await turn();
    const rest = stream.rest();
    stream.resume();
    await caughtUp;
    // It is no longer watched.
    while (response.socket?.timeout) await turn();
    reply.end(wireOf({ done: true }));
    expect((await rest).at(-1)).toEqual({ data: '{"done":true}' });
  });

  itOnNode("holds nothing of the request that opened it", async () => {
    const { listen, listening } = await serveFake({
      exchange: (_message, reply) => void reply.notify(wireOf({ hello: true })),
    });
    const requested = once(listening.server, "request") as Promise<[IncomingMessage]>;
    const stream = await listen(modern);
    await stream.next();
    const [request] = await requested;
    expect([request.rawHeaders, request.headers, request.eventNames()]).toEqual([[], {}, []]);
    stream.hangUp();
  });
});
