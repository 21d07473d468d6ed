import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Peer, Reply } from "../protocol/edge.ts";
import { resultOf, wireOf } from "./fake-edge.ts";
import { serveFake } from "./serve-fake.ts";
import { modernHeaders } from "./wire-client.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };
const modern = { headers: modernHeaders, body: question };
const rawBody = JSON.stringify(question);
const rawQuestion = [
  "POST /mcp HTTP/1.1",
  "Host: localhost",
  "Content-Type: application/json",
  "MCP-Protocol-Version: 2026-07-28",
  `Content-Length: ${rawBody.length}`,
  "",
  rawBody,
].join("\r\n");
const code = (answer: { json(): unknown }) =>
  (answer.json() as { error: { code: number; message: string } }).error.code;

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

  it("shows the edge its headers, whatever the case of their names (MOD-64)", async () => {
    const { ask } = await serveFake({
      exchange: (message, reply, _peer, headers) => reply.end(resultOf(message, headers)),
    });
    const headers = { "mcp-PROTOCOL-version": " 2026-07-28 ", "MCP-METHOD": "resources/read", "mcp-name": "a://B" };
    expect((await ask({ headers, body: question })).json()).toMatchObject({
      result: { version: "2026-07-28", method: "resources/read", name: "a://B" },
    });
  });

  it("is answered with the status that the edge gives (MOD-62)", async () => {
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

  it("becomes a stream without event ids once something is said on the way (MOD-58, MOD-59)", async () => {
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
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(stream.headers["mcp-session-id"]).toBeUndefined();
    expect(await stream.rest()).toEqual([
      { data: '{"n":1}' },
      { data: '{"n":2}' },
      { data: '{"jsonrpc":"2.0","id":7,"result":{}}' },
    ]);
  });

  it("is withdrawn by hanging up (MOD-60, MOD-68)", async () => {
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
    const withdrawn = once(peer.signal, "abort");
    expect(peer.signal.aborted).toBe(false);
    stream.hangUp();
    await withdrawn;
    expect(reply.notify(wireOf({ late: true }))).toBeUndefined();
    reply.end(wireOf({ late: true }));
  });

  it("is withdrawn by closing half of the connection, before anything was said (MOD-60)", async () => {
    const asked = Promise.withResolvers<Peer>();
    const { raw } = await serveFake({ exchange: (_message, _reply, peer) => asked.resolve(peer) });
    const socket = await raw(rawQuestion);
    const { signal } = await asked.promise;
    socket.end();
    if (!signal.aborted) await once(signal, "abort");
  });

  it("is not withdrawn once it was answered", async () => {
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

  it("from a reader of JSON alone is answered as JSON, and what is said on the way is left out", async () => {
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

  it("that makes the edge throw is answered with 500, and the next one is served", async () => {
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
  it("makes the edge wait, so that little piles up; the rest comes when it reads", async () => {
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
    // Ours are 64 KiB and one event; the rest is what the system's own buffers take.
    expect(pushed).toBeLessThan(200);
    socket.resume();
    await pending;
    socket.destroy();
  });

  it("that takes nothing for too long is cut off", async () => {
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

  it("of a quiet stream is kept awake with comments, and never cut off", async () => {
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

/** Fills every buffer on the way. Resolves when the reader has caught up, or is gone. */
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
  it("on which nothing happens is not cut off for that, even without comments", async () => {
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
    // Another, which is not read, comes later and is cut off.
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

  it("that has ended is cut off, too, when the rest of it is not read", async () => {
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

  it("whose reader has caught up again is kept", async () => {
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
    // It is watched no longer.
    while (response.socket?.timeout) await turn();
    reply.end(wireOf({ done: true }));
    expect((await rest).at(-1)).toEqual({ data: '{"done":true}' });
  });

  it("holds nothing of the request that opened it", async () => {
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

describe("a body", () => {
  it("that is too large is refused, whether it says so or not", async () => {
    const { ask } = await serveFake({}, { maxBodyBytes: 1000 });
    const large = JSON.stringify("x".repeat(1500));
    for (const headers of [{ "Content-Length": large.length }, { "Transfer-Encoding": "chunked" }]) {
      const answer = await ask({ headers, body: large });
      expect([answer.status, code(answer)]).toEqual([413, -32600]);
      expect(answer.headers.connection).toBe("close");
    }
  });

  it("that never ends is cut off", async () => {
    const { raw } = await serveFake({}, { maxBodyBytes: 1000 });
    const socket = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
    const send = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("drain", send).resume();
    send();
    await closed;
  });

  it("may come in many small chunks", async () => {
    const { raw } = await serveFake();
    const socket = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    );
    for (const byte of JSON.stringify(question)) socket.write(`1\r\n${byte}\r\n`);
    socket.write("0\r\n\r\n");
    const text = Buffer.concat(await socket.toArray()).toString();
    expect(text).toContain('{"jsonrpc":"2.0","id":7,"result":{"echo":"resources/list"}}');
  });

  it("is refused while too much else is arriving, and welcome when that is gone", async () => {
    const { raw, ask, listening } = await serveFake({}, { maxArrivingBytes: 300_000 });
    const requested = once(listening.server, "request");
    const slow = await raw(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n",
    );
    const [request] = (await requested) as [IncomingMessage];
    const arrived = new Promise<void>((resolve) => {
      let length = 0;
      request.on("data", (chunk: Buffer) => (length += chunk.length) === 250_000 && resolve());
    });
    slow.write(" ".repeat(250_000));
    await arrived;

    const large = { headers: modernHeaders, body: { ...question, pad: "x".repeat(200_000) } };
    const refused = await ask(large);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);

    const gone = new Promise((resolve) => request.once("close", resolve));
    slow.destroy();
    await gone;
    expect((await ask(large)).status).toBe(200);
  });

  it("is counted from its first part on", async () => {
    const { raw, ask, listening } = await serveFake({}, { maxArrivingBytes: 100_000 });
    const sockets: Socket[] = [];
    let held = 0;
    const enough = new Promise<void>((resolve) => {
      listening.server.on("request", (request) => {
        request.once("data", (chunk: Buffer) => (held += chunk.length) > 90_000 && resolve());
      });
    });
    // Ten thousand bytes each, in one part, and nothing more.
    for (let count = 0; count < 10; count++)
      sockets.push(
        await raw(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n${" ".repeat(10_000)}`,
        ),
      );
    await enough;
    const chunked = { ...modernHeaders, "Transfer-Encoding": "chunked" };
    expect((await ask({ headers: chunked, body: { ...question, pad: "x".repeat(50_000) } })).status).toBe(503);
    // What comes whole is in nobody's way.
    expect((await ask(modern)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it("that is not JSON, not UTF-8, or nested too deep is a parse error with a null id", async () => {
    const { ask } = await serveFake();
    for (const body of ["{", "", Buffer.from([0x22, 0xff, 0x22]), "[".repeat(100_000)]) {
      const answer = await ask({ body });
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    }
  });

  it("must say that it is JSON, plainly encoded", async () => {
    const { ask } = await serveFake();
    expect((await ask({ headers: { "Content-Type": "text/plain" }, body: "{}" })).status).toBe(415);
    expect((await ask({ headers: { "Content-Type": "" }, body: "{}" })).status).toBe(415);
    expect((await ask({ headers: { "Content-Encoding": "gzip" }, body: "{}" })).status).toBe(415);
    expect(
      (await ask({ headers: { ...modernHeaders, "Content-Type": "application/json; charset=utf-8" }, body: question }))
        .status,
    ).toBe(200);
  });

  it("is refused when its sender accepts neither JSON nor events", async () => {
    const { ask } = await serveFake();
    expect((await ask({ headers: { Accept: "text/html" }, body: question })).status).toBe(406);
  });
});

describe("the doors", () => {
  it("are closed to foreign hosts and origins, on every path and method (LEG-42, MOD-55)", async () => {
    const { ask } = await serveFake();
    for (const headers of [{ Host: "evil.example" }, { Origin: "https://evil.example" }, { Origin: "null" }])
      for (const method of ["POST", "GET", "DELETE", "OPTIONS", "PUT"])
        for (const path of ["/mcp", "/sse", "/messages", "/else"]) {
          const answer = await ask({
            method,
            path,
            headers: { ...modernHeaders, ...headers },
            body: method === "POST" ? question : undefined,
          });
          expect([answer.status, code(answer), answer.headers["access-control-allow-origin"]]).toEqual([
            403,
            -32600,
            undefined,
          ]);
        }
  });

  it("are closed to requests without a host", async () => {
    const { raw } = await serveFake();
    const socket = await raw("GET /mcp HTTP/1.0\r\n\r\n");
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("are closed to requests that name two hosts, whichever comes first and however they are spelled", async () => {
    for (const allowedHosts of [[], ["*"]]) {
      const { raw } = await serveFake({}, { allowedHosts });
      for (const hosts of ["Host: localhost\r\nhOST: evil.example", "Host: localhost\r\nHost: localhost"]) {
        const socket = await raw(rawQuestion.replace("Host: localhost", hosts));
        expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 400 [^]*send one Host header/);
      }
    }
  });

  it("are open to names and origins that were allowed", async () => {
    const { ask } = await serveFake({}, { allowedHosts: ["mcp.example"], allowedOrigins: ["https://app.example"] });
    const answer = await ask({
      ...modern,
      headers: { ...modernHeaders, Host: "mcp.example", Origin: "https://app.example" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ "access-control-allow-origin": "https://app.example", vary: "Origin" });
    expect(answer.headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
  });

  it("tell a browser beforehand what it may send", async () => {
    const { ask } = await serveFake();
    const answer = await ask({
      method: "OPTIONS",
      headers: { Origin: "http://localhost:5173", "Access-Control-Request-Method": "POST" },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("http://localhost:5173");
    expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE, OPTIONS");
    for (const name of [
      "Mcp-Session-Id",
      "MCP-Protocol-Version",
      "Mcp-Method",
      "Mcp-Name",
      "Last-Event-ID",
      "Authorization",
      "Content-Type",
    ])
      expect(answer.headers["access-control-allow-headers"]).toContain(name);
  });

  it("have an address", async () => {
    const { ask } = await serveFake();
    const lost = await ask({ path: "/nowhere?x=1", body: question });
    expect(lost.status).toBe(404);
    expect(lost.text).toContain("/mcp");
    expect((await ask({ ...modern, path: "/mcp?x=1" })).status).toBe(200);
    expect((await ask({ ...modern, path: `/mcp?${"x".repeat(3000)}` })).status).toBe(414);
    const put = await ask({ method: "PUT" });
    expect([put.status, put.headers.allow]).toEqual([405, "GET, POST, DELETE, OPTIONS"]);
  });

  it("can have others beside them, behind the same guards", async () => {
    const { ask } = await serveFake(
      {},
      {
        elsewhere(_request, response, path) {
          if (path === "/health") response.end("well");
          return path === "/health";
        },
      },
    );
    expect((await ask({ method: "GET", path: "/health?x" })).text).toBe("well");
    expect((await ask({ method: "GET", path: "/health", headers: { Host: "evil.example" } })).status).toBe(403);
    expect((await ask({ method: "GET", path: "/other" })).status).toBe(404);
  });

  it("answer GET and DELETE of a revision without sessions with 405 (MOD-65)", async () => {
    const { ask } = await serveFake();
    for (const method of ["GET", "DELETE"]) {
      const answer = await ask({ method, headers: modernHeaders });
      expect([answer.status, answer.headers.allow]).toEqual([405, "POST, OPTIONS"]);
    }
  });
});

describe("the caller", () => {
  it("is whom `identify` names, at once or later", async () => {
    for (const later of [false, true]) {
      const { ask } = await serveFake(
        { exchange: (message, reply, { caller }) => reply.end(resultOf(message, caller)) },
        {
          identify(request) {
            const caller = { id: String(request.headers.authorization) };
            return later ? Promise.resolve(caller) : caller;
          },
        },
      );
      const answer = await ask({ ...modern, headers: { ...modernHeaders, Authorization: "ann" } });
      expect(answer.json()).toMatchObject({ result: { id: "ann" } });
    }
  });

  it("is anonymous unless said", async () => {
    const { ask } = await serveFake({ exchange: (message, reply, { caller }) => reply.end(resultOf(message, caller)) });
    expect((await ask(modern)).json()).toMatchObject({ result: { id: "anonymous" } });
  });

  it("that nobody knows gets 401 on every door, and is told how to say who it is (LEG-66)", async () => {
    for (const identify of [() => undefined, () => Promise.resolve(undefined)]) {
      const { ask, edge } = await serveFake({}, { identify, challenge: 'Bearer realm="house"' });
      for (const [method, path] of [
        ["POST", "/mcp"],
        ["GET", "/mcp"],
        ["DELETE", "/mcp"],
        ["GET", "/sse"],
        ["POST", "/messages"],
      ] as const) {
        const answer = await ask({ method, path, body: method === "POST" ? question : undefined });
        expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, 'Bearer realm="house"']);
      }
      expect(edge.sessions).toEqual([]);
    }
  });

  it("is not let in when `identify` fails", async () => {
    for (const identify of [
      () => Promise.reject(new Error("a secret")),
      () => {
        throw new Error("a secret");
      },
    ]) {
      const { ask } = await serveFake({}, { identify });
      const answer = await ask(modern);
      expect(answer.status).toBe(500);
      expect(answer.text).not.toContain("secret");
    }
  });
});
