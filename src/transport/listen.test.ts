import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import type { Reply } from "../protocol/protocol.ts";
import { createFakeProtocol, resultOf, wireOf } from "./test-protocol.ts";
import { listen } from "./listen.ts";
import { serveFake } from "./test-server.ts";
import { createWireClient, modernHeaders } from "./test-client.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };
const modern = { headers: modernHeaders, body: question };
const modernListen = { headers: modernHeaders, body: { ...question, method: "subscriptions/listen" } };
const json = "Host: localhost\r\nContent-Type: application/json\r\n";

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

async function everything(socket: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  try {
    for await (const chunk of socket) text += chunk.toString();
  } catch {
    // Disconnected: everything before counts.
  }
  return text;
}

describe("a server", () => {
  it("listens on this machine only by default (LEG-43)", async () => {
    const { listening } = await serveFake();
    expect(listening.server.address()).toMatchObject({ address: "127.0.0.1" });
    expect(listening.url).toBe(`http://127.0.0.1:${listening.port}/mcp`);
  });

  it("accepts the name that it listens on", async () => {
    const { listening } = await serveFake({}, { host: "127.0.0.2" });
    const client = createWireClient(listening.port, "127.0.0.2");
    expect((await client.ask(modern)).status).toBe(200);
    client.close();
  });

  it("keeps idle connections longer than load balancers do", async () => {
    const { listening } = await serveFake();
    const nginxMs = 60_000;
    expect(listening.server.keepAliveTimeout).toBeGreaterThan(nginxMs);
  });

  it("reports why it cannot listen", async () => {
    const { listening } = await serveFake();
    await expect(listen(createFakeProtocol(), { port: listening.port })).rejects.toThrow(
      /is in use by another program; choose another port/,
    );
    await expect(listen(createFakeProtocol(), { port: 0, host: "203.0.113.7" })).rejects.toThrow(
      /has no address "203.0.113.7"/,
    );
    await expect(listen(createFakeProtocol(), { host: "::1%lo", port: 0 })).rejects.toThrow(
      'the address "::1%lo" cannot be written in a URL',
    );
  });

  it("disconnects clients whose headers or bodies take too long, and continues serving", async () => {
    const { raw, ask } = await serveFake({}, { headersTimeoutMs: 30, requestTimeoutMs: 60 });
    const headers = await raw(`POST /mcp HTTP/1.1\r\n${json}X-Slow: `);
    const body = await raw(`POST /mcp HTTP/1.1\r\n${json}Content-Length: 10\r\n\r\n{`);
    const [slowHeaders, slowBody] = await Promise.all([everything(headers), everything(body)]);
    expect(slowHeaders).toMatch(/^HTTP\/1\.1 408 /);
    expect(slowBody).toMatch(/^HTTP\/1\.1 408 /);
    expect((await ask(modern)).status).toBe(200);
  });

  it("keeps streams and slow answers for longer than a request may take", async () => {
    const started = Promise.withResolvers<Reply>();
    const { listen: open, raw } = await serveFake(
      {
        exchange(_message, reply) {
          void reply.notify(wireOf({ n: 1 }));
          started.resolve(reply);
        },
      },
      { headersTimeoutMs: 20, requestTimeoutMs: 40 },
    );
    const stream = await open(modern);
    await stream.next();
    // Two slow clients are disconnected meanwhile, one after the other.
    for (let count = 0; count < 2; count++) await everything(await raw("POST /mcp HTTP/1.1\r\n"));
    (await started.promise).end(wireOf({ n: 2 }));
    expect(await stream.rest()).toEqual([{ data: '{"n":2}' }]);
  });

  it.each([
    "nonsense\r\n\r\n",
    "POST /mcp HTTP/9.9\r\n\r\n",
    `POST /mcp HTTP/1.1\r\n${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `POST /mcp HTTP/1.1\r\n${json}Content-Length: -1\r\n\r\n`,
    `POST /mcp HTTP/1.1\r\n${json}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /mcp HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `POST /mcp HTTP/1.1\r\n${json}X: ${"x".repeat(20_000)}\r\n\r\n`,
    "POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "\u0000\u0001\u0002\u0003\r\n\r\n",
  ])("answers what is not HTTP with a 4xx and hangs up (%#)", async (text) => {
    const { raw, ask } = await serveFake();
    expect(await everything(await raw(text))).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await ask(modern)).status).toBe(200);
  });

  it("turns connections away when it has enough", async () => {
    const { raw, ask } = await serveFake({}, { maxConnections: 1 });
    expect((await ask(modern)).status).toBe(200);
    expect(await everything(await raw(""))).toBe("");
  });
});

function expecting(...headers: readonly string[]): string {
  const first = ["POST /mcp HTTP/1.1", "Expect: 100-continue", "MCP-Protocol-Version: 2026-07-28"];
  return [...first, ...headers, "", ""].join("\r\n");
}

describe("a client that asks before it sends its body", () => {
  const body = JSON.stringify(question);
  const type = "Content-Type: application/json";
  const length = `Content-Length: ${body.length}`;

  it("gets 100 Continue, then its response, and may send another request", async () => {
    const { raw } = await serveFake();
    const socket = await raw(expecting("Host: localhost", type, length));
    for (let count = 0; count < 2; count++) {
      expect(String(await once(socket, "data"))).toBe("HTTP/1.1 100 Continue\r\n\r\n");
      socket.write(body);
      expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 200 [^]*"echo":"resources\/list"/);
      socket.write(expecting("Host: localhost", type, length));
    }
    socket.destroy();
  });

  it.each([
    [403, ["Host: evil.example", type, length]],
    [403, ["Host: localhost", "Origin: https://evil.example", type, length]],
    [400, ["Host: localhost", "Host: localhost", type, length]],
    [401, ["Host: localhost", "Authorization: nobody", type, length]],
    [415, ["Host: localhost", "Content-Type: text/plain", length]],
    [406, ["Host: localhost", "Accept: text/html", type, length]],
    [413, ["Host: localhost", type, "Content-Length: 100000000"]],
  ])("is refused before it sends it (%i)", async (status, headers) => {
    const { raw } = await serveFake(
      {},
      { identify: (request) => (request.headers.authorization ? undefined : { id: "ann" }) },
    );
    const socket = await raw(expecting(...headers));
    const said = String(await once(socket, "data"));
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(said).toMatch(/^Connection: close\r$/m);
    socket.destroy();
  });
});

describe("closing", () => {
  it("ends every listen with its result, and every stream, and lets go of the port", async () => {
    const replies: Reply[] = [];
    const edge = createFakeProtocol({
      exchange(_message, reply) {
        void reply.notify(wireOf({ listening: true }));
        replies.push(reply);
      },
      close() {
        for (const reply of replies) reply.end(wireOf({ result: "over" }));
        return Promise.resolve();
      },
    });
    const listening = await listen(edge, { port: 0 });
    const client = createWireClient(listening.port);
    const listens = [await client.listen(modernListen), await client.listen(modernListen)];
    const id = await client.initialize();
    const standing = await client.listen({ method: "GET", headers: { "Mcp-Session-Id": id } });
    const old = await client.listen({ method: "GET", path: "/sse" });
    await listening.close();
    for (const stream of listens) expect((await stream.rest()).at(-1)).toEqual({ data: '{"result":"over"}' });
    expect((await standing.rest()).map(({ id: event }) => event)).toEqual(["1-0"]);
    expect((await old.rest()).map(({ event }) => event)).toEqual(["endpoint"]);
    expect(edge.sessions.map(({ closed }) => closed)).toEqual([true, true]);
    expect(listening.http.counts).toEqual({ sessions: 0, streams: 0 });
    const again = await listen(createFakeProtocol(), { port: listening.port });
    await again.close();
    client.close();
  });

  it("first responds to received requests, in any revision, with Connection: close", async () => {
    const answers: (() => void)[] = [];
    let isEdgeClosed = false;
    const hold = (message: { id?: string | number; method?: string }, reply: Reply) => {
      if (message.method === "initialize") reply.end(resultOf(message));
      else answers.push(() => reply.end(resultOf(message)));
    };
    const edge = createFakeProtocol({
      exchange: hold,
      receive: hold,
      async close() {
        isEdgeClosed = true;
      },
    });
    const identified = Promise.withResolvers<{ id: string }>();
    const identify = ({ headers }: IncomingMessage) =>
      headers.authorization === "slow" ? identified.promise : { id: "ann" };
    const listening = await listen(edge, { port: 0, graceMs: 60_000, identify });
    const client = createWireClient(listening.port);
    const id = await client.initialize();
    const body = JSON.stringify(question);
    const begun = await client.raw(
      `POST /mcp HTTP/1.1\r\n${json}MCP-Protocol-Version: 2026-07-28\r\nContent-Length: ${body.length}\r\n\r\n{`,
    );
    const asked = [client.ask(modern), client.ask({ headers: { "Mcp-Session-Id": id }, body: question })];
    await until(() => answers.length === 2);
    const requested = once(listening.server, "request");
    asked.push(client.ask({ ...modern, headers: { ...modernHeaders, Authorization: "slow" } }));
    await requested;
    const closed = listening.close();
    await until(() => !listening.server.listening);
    identified.resolve({ id: "ben" });
    const said = everything(begun);
    begun.write(body.slice(1));
    await until(() => answers.length === 4);
    expect(isEdgeClosed).toBe(false);
    for (const answer of answers) answer();
    const all = await Promise.all(asked);
    expect(all.map(({ status, headers }) => [status, headers.connection])).toEqual(asked.map(() => [200, "close"]));
    expect(await said).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
    await closed;
    expect(isEdgeClosed).toBe(true);
    client.close();
  });

  it("begins no session for a body that was still arriving", async () => {
    const { raw, edge, listening } = await serveFake({}, { graceMs: 60_000 });
    const body = JSON.stringify({ ...question, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    const requested = once(listening.server, "request");
    const socket = await raw(`POST /mcp HTTP/1.1\r\n${json}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    await requested;
    await listening.http.close(0);
    const said = everything(socket);
    socket.write(body.slice(9));
    expect(await said).toMatch(/^HTTP\/1\.1 503 /);
    expect(edge.sessions).toEqual([]);
    expect(listening.http.counts.sessions).toBe(0);
  });

  it("does not wait for clients that connected and sent nothing", async () => {
    const listening = await listen(createFakeProtocol(), { port: 0, graceMs: 2 ** 30 });
    const connected = once(listening.server, "connection");
    const socket = connect(listening.port, "127.0.0.1");
    const hungUp = once(socket, "close");
    await connected;
    await listening.close();
    await hungUp;
  });

  it("disconnects clients that do not finish in time", async () => {
    const edge = createFakeProtocol({
      exchange: (_message, reply) => void reply.notify(wireOf({ n: 1 })),
      close: () => new Promise(() => {}),
    });
    const listening = await listen(edge, { port: 0, graceMs: 10 });
    const client = createWireClient(listening.port);
    const stream = await client.listen(modern);
    const requested = once(listening.server, "request");
    const stuck = await client.raw(`POST /mcp HTTP/1.1\r\n${json}Content-Length: 10\r\n\r\n`);
    await requested;
    const cut = everything(stuck);
    await listening.close();
    expect(await stream.rest()).toEqual([{ data: '{"n":1}' }]);
    await cut;
    client.close();
  });
});

/** An address of this machine that looks like another machine. */
const outer = Object.values(networkInterfaces())
  .flatMap((each = []) => each)
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

describe.skipIf(outer === undefined)("another machine", () => {
  const everywhere = { host: "0.0.0.0", allowedHosts: ["*"] };
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };

  it("gets half of the connections at most", async () => {
    const { listening, ask } = await serveFake({}, { ...everywhere, maxConnections: 4 });
    const get = "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const sockets = [];
    for (let count = 0; count < 2; count++) {
      const socket = connect(listening.port, outer);
      socket.write(get);
      const [said] = (await once(socket, "data")) as [Buffer];
      expect(said.toString()).toMatch(/^HTTP\/1\.1 200 /);
      sockets.push(socket);
    }
    const refused = connect(listening.port, outer);
    refused.on("error", () => {});
    await once(refused, "close");
    expect((await ask(modern)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await once(sockets[1]!, "close");
    // As soon as the server notices a closed connection, another is accepted.
    for (let status = 0; status !== 200;) {
      const client = createWireClient(listening.port, outer);
      status = await client.ask(modern).then(
        (answer) => answer.status,
        () => 0,
      );
      client.close();
    }
  });

  it("gets half of the sessions at most, and takes none from others", async () => {
    const { listening, ask, edge } = await serveFake({}, { ...everywhere, maxSessions: 4 });
    const open = async () => {
      const client = createWireClient(listening.port, outer);
      const { status } = await client.ask({ body: initialize });
      client.close();
      return status;
    };
    expect([await open(), await open(), await open()]).toEqual([200, 200, 503]);
    expect((await ask({ body: initialize })).status).toBe(200);
    expect((await ask({ body: initialize })).status).toBe(200);
    expect(edge.sessions.map(({ closed }) => closed)).toEqual([false, false, false, false]);
  });
});
