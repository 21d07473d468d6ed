import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Reply } from "../protocol/protocol.ts";
import { beginSession, whenStreams } from "./test-session.ts";
import type { FakeSession, FakeMessage } from "./test-protocol.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import { itOnNode, serveFake } from "./test-server.ts";
import { createWireClient, type WireClient } from "./test-client.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };

/** Responds to each request only on demand. */
function held() {
  const replies: { message: FakeMessage; reply: Reply }[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    receive(message: FakeMessage, reply: Reply) {
      if (message.method === "initialize") return reply.end(resultOf(message));
      replies.push({ message, reply });
      arrived.resolve();
    },
    async next(): Promise<{ message: FakeMessage; reply: Reply }> {
      while (replies.length === 0) {
        await arrived.promise;
        arrived = Promise.withResolvers();
      }
      return replies.shift() as { message: FakeMessage; reply: Reply };
    },
  };
}

function areClosed(opened: readonly { readonly session: FakeSession }[]): boolean[] {
  return opened.map(({ session }) => session.closed);
}

describe("a session", () => {
  it("begins with initialize, and its id is visible ASCII that nobody guesses (LEG-57)", async () => {
    const served = await serveFake();
    const ids = new Set([await served.initialize(), await served.initialize()]);
    expect(ids.size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{30,}$/);
  });

  it("does not begin when no revision was agreed on", async () => {
    const { ask, edge, listening } = await serveFake();
    const answer = await ask({ body: { ...initialize, params: {} } });
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    expect([edge.sessions[0]?.closed, listening.http.counts.sessions]).toEqual([true, 0]);
  });

  it("answers questions as JSON, and takes notifications with 202 and no body (LEG-47, LEG-48)", async () => {
    const served = await serveFake();
    const { headers } = await beginSession(served);
    const answer = await served.ask({ headers, body: question });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    const taken = await served.ask({ headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } });
    expect([taken.status, taken.text]).toEqual([202, ""]);
  });

  it("must be named: without an id 400, with an unknown one 404 (LEG-58, LEG-59)", async () => {
    const { ask } = await serveFake();
    for (const method of ["POST", "GET", "DELETE"]) {
      const body = method === "POST" ? question : undefined;
      expect((await ask({ method, body })).status).toBe(400);
      const unknown = await ask({ method, headers: { "Mcp-Session-Id": "nobody" }, body });
      expect(unknown.status).toBe(404);
      expect(unknown.json()).toMatchObject({
        id: method === "POST" ? 7 : null,
        error: { message: expect.stringContaining("initialize") },
      });
    }
  });

  it("refuses unknown revisions with 400, and accepts a missing header (LEG-61)", async () => {
    const served = await serveFake();
    const { headers } = await beginSession(served);
    const of = async (version: string) =>
      (await served.ask({ headers: { ...headers, "MCP-Protocol-Version": version }, body: question })).status;
    expect(await of("1999-01-01")).toBe(400);
    expect(await of("2025-06-18")).toBe(200);
    expect((await served.ask({ headers, body: question })).status).toBe(200);
  });

  it("is its caller's alone: to anyone else it does not exist (LEG-62)", async () => {
    const served = await serveFake({}, { identify: (request) => ({ id: String(request.headers.authorization) }) });
    const id = await served.initialize("2025-06-18", { Authorization: "ann" });
    const as = async (Authorization: string, method = "POST") =>
      (
        await served.ask({
          method,
          headers: { Authorization, "Mcp-Session-Id": id },
          body: method === "POST" ? question : undefined,
        })
      ).status;
    expect(await as("ben")).toBe(404);
    expect(await as("ben", "GET")).toBe(404);
    expect(await as("ben", "DELETE")).toBe(404);
    expect(await as("ann")).toBe(200);
  });

  it("is not lent to the same caller with fewer scopes", async () => {
    const served = await serveFake(
      {},
      { identify: (request) => ({ id: "ann", scopes: String(request.headers.authorization).split(" ") }) },
    );
    const id = await served.initialize("2025-06-18", { Authorization: "read write" });
    const as = async (Authorization: string) =>
      (await served.ask({ headers: { Authorization, "Mcp-Session-Id": id }, body: question })).status;
    expect(await as("read")).toBe(404);
    expect(await as("read write")).toBe(200);
  });

  it("ends with DELETE: its streams end, pending requests get an error, later use is 404 (LEG-59, LEG-60)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers, session, listen } = await beginSession(served);
    const stream = await listen();
    const waiting = served.ask({ headers, body: question });
    const { reply } = await questions.next();
    const { signal } = session.peer;

    expect((await served.ask({ method: "DELETE", headers })).status).toBe(204);
    expect(await stream.rest()).toEqual([]);
    expect((await waiting).status).toBe(404);
    expect([session.closed, signal.aborted]).toEqual([true, true]);
    expect((await served.ask({ headers, body: question })).status).toBe(404);
    expect((await served.ask({ method: "DELETE", headers })).status).toBe(404);
    reply.end(wireOf({ late: true }));
    expect(session.peer.send(wireOf({ late: true }))).toBeUndefined();
  });

  it("ends after a while without activity, but not while a stream is open or a request is running", async () => {
    let time = 0;
    const questions = held();
    const served = await serveFake({ receive: questions.receive }, { sessionIdleMs: 20, now: () => time });
    const listening = await beginSession(served);
    const stream = await listening.listen();
    const asking = await beginSession(served);
    const answer = served.ask({ headers: asking.headers, body: question });
    const { message, reply } = await questions.next();
    const quiet = await beginSession(served);

    time = 100;
    await served.edge.whenClosed(quiet.session);
    expect((await served.ask({ headers: quiet.headers, body: question })).status).toBe(404);
    expect([listening.session.closed, asking.session.closed]).toEqual([false, false]);

    reply.end(resultOf(message));
    expect((await answer).status).toBe(200);
    const gone = whenStreams(served, 0);
    stream.hangUp();
    await gone;
    time = 200;
    await Promise.all([served.edge.whenClosed(asking.session), served.edge.whenClosed(listening.session)]);
    expect(served.listening.http.counts.sessions).toBe(0);
  });

  it("is evicted when there are too many, the longest idle first", async () => {
    const served = await serveFake({}, { maxSessions: 3 });
    const [first, second, third] = [await beginSession(served), await beginSession(served), await beginSession(served)];
    const stream = await first.listen();
    await served.ask({ headers: second.headers, body: question });
    await beginSession(served);
    expect([first, second, third].map(({ session }) => session.closed)).toEqual([false, false, true]);
    stream.hangUp();
  });

  it("is not evicted while it has a subscription", async () => {
    const served = await serveFake({}, { maxSessions: 2 });
    const [first, second] = [await beginSession(served), await beginSession(served)];
    first.session.subscriptions = 1;
    const third = await beginSession(served);
    expect(areClosed([first, second, third])).toEqual([false, true, false]);
    third.session.subscriptions = 1;
    const refused = await served.ask({ body: initialize });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "30"]);
    expect(areClosed([first, third])).toEqual([false, false]);
  });

  it("ends after a while of silence although it is subscribed to something", async () => {
    let time = 0;
    const served = await serveFake({}, { sessionIdleMs: 20, now: () => time });
    const { session } = await beginSession(served);
    session.subscriptions = 1;
    time = 100;
    await served.edge.whenClosed(session);
  });

  itOnNode("is not lost to another connection that would hold as many, where all callers are one", async () => {
    const served = await serveFake({}, { maxSessions: 4 });
    const connect = (): WireClient => {
      const client = createWireClient(served.listening.port);
      onTestFinished(() => client.close());
      return client;
    };
    const [one, two] = [connect(), connect()];
    const open = async (client: WireClient) => {
      const { status } = await client.ask({ body: initialize });
      return { status, session: served.edge.sessions.at(-1) as FakeSession };
    };
    const opened = [await open(one), await open(two), await open(two), await open(two)];
    // Only a holder of more sessions than the newcomer loses one.
    opened.push(await open(connect()), await open(connect()));
    expect(areClosed(opened)).toEqual([false, true, true, false, false, false]);
    expect((await open(connect())).status).toBe(503);
    expect(areClosed(opened)).toEqual([false, true, true, false, false, false]);
    // A connection may always replace its own session.
    expect((await open(one)).status).toBe(200);
    expect(areClosed(opened)).toEqual([true, true, true, false, false, false]);
  });

  itOnNode("is not lost to any number of other connections where its own holds a tenth of all at most", async () => {
    const served = await serveFake({}, { maxSessions: 20 });
    const [first, second] = [await beginSession(served), await beginSession(served)];
    const statuses = new Map<number, number>();
    for (let count = 0; count < 30; count++) {
      const client = createWireClient(served.listening.port);
      const { status } = await client.ask({ body: initialize });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      client.close();
    }
    expect([...statuses]).toEqual([
      [200, 18],
      [503, 12],
    ]);
    expect(areClosed([first, second])).toEqual([false, false]);
  });

  itOnNode("that was never used can be evicted by anyone after a minute", async () => {
    let time = 0;
    const served = await serveFake({}, { maxSessions: 2, now: () => time });
    const other = createWireClient(served.listening.port);
    onTestFinished(() => other.close());
    const used = await beginSession(served);
    await served.ask({ headers: used.headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } });
    await other.initialize();
    const newcomer = async () => {
      const client = createWireClient(served.listening.port);
      const { status } = await client.ask({ body: initialize });
      client.close();
      return status;
    };
    time = 59_999;
    expect(await newcomer()).toBe(503);
    time = 60_000;
    expect(await newcomer()).toBe(200);
    expect(served.edge.sessions.map(({ closed }) => closed)).toEqual([false, true, false]);
    expect(await newcomer()).toBe(503);
  });

  it("is not lost to a caller who holds as many: the one who holds most loses one", async () => {
    const served = await serveFake(
      {},
      { maxSessions: 6, identify: (request) => ({ id: String(request.headers.authorization) }) },
    );
    const open = async (Authorization: string) => {
      const answer = await served.ask({ headers: { Authorization }, body: initialize });
      return { status: answer.status, session: served.edge.sessions.at(-1) as FakeSession };
    };
    const ann = [await open("ann"), await open("ann")];
    const flood = [];
    for (let count = 0; count < 20; count++) flood.push(await open("ben"));
    expect(areClosed(ann)).toEqual([false, false]);
    expect(areClosed(flood)).toEqual(flood.map((_, at) => at < 16));
    // Ann may have as many as ben, at ben's expense; neither can take more.
    ann.push(await open("ann"));
    expect(areClosed(flood.slice(16))).toEqual([true, false, false, false]);
    ann.push(await open("ann"));
    expect(areClosed(ann)).toEqual([true, false, false, false]);
    expect(areClosed(flood.slice(16))).toEqual([true, false, false, false]);
    // A third caller gets a session.
    const cid = await open("cid");
    expect([cid.status, cid.session.closed, served.listening.http.counts.sessions]).toEqual([200, false, 6]);
  });

  it("is refused to a caller whose own are all in use, when no one holds more", async () => {
    const served = await serveFake(
      {},
      { maxSessions: 2, identify: (request) => ({ id: String(request.headers.authorization) }) },
    );
    const own = await served.initialize("2025-06-18", { Authorization: "ann" });
    const stream = await served.listen({ method: "GET", headers: { Authorization: "ann", "Mcp-Session-Id": own } });
    const other = await served.initialize("2025-06-18", { Authorization: "ben" });
    expect((await served.ask({ headers: { Authorization: "ann" }, body: initialize })).status).toBe(503);
    const ask = { headers: { Authorization: "ben", "Mcp-Session-Id": other }, body: question };
    expect((await served.ask(ask)).status).toBe(200);
    stream.hangUp();
  });

  it("is refused with 503 when none can be spared", async () => {
    const served = await serveFake({}, { maxSessions: 2 });
    const streams = [await (await beginSession(served)).listen(), await (await beginSession(served)).listen()];
    const answer = await served.ask({ body: initialize });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "30"]);
    expect(served.edge.sessions).toHaveLength(2);
    for (const stream of streams) stream.hangUp();
  });
});

describe("a posted question of a session", () => {
  it("becomes a stream with event ids with the first notification (LEG-48, LEG-55)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers } = await beginSession(served);
    const opening = served.listen({ headers, body: question });
    const { message, reply } = await questions.next();
    void reply.notify(wireOf({ n: 1 }));
    const stream = await opening;
    reply.end(resultOf(message));
    expect(await stream.rest()).toEqual([
      { id: "1-1", data: '{"n":1}' },
      { id: "1-2", data: '{"jsonrpc":"2.0","id":7,"result":{}}' },
    ]);
  });

  it("opens its stream with an empty event and a time to come back from 2025-11-25 on (LEG-50)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive }, { retryMs: 250 });
    const { headers } = await beginSession(served, "2025-11-25");
    const opening = served.listen({ headers, body: question });
    const { reply } = await questions.next();
    void reply.notify(wireOf({ n: 1 }));
    const stream = await opening;
    expect(await stream.next()).toEqual({ id: "1-0", retry: "250", data: "" });
    expect(await stream.next()).toEqual({ id: "1-1", data: '{"n":1}' });
    reply.end();
    expect(await stream.next()).toBeUndefined();
  });

  it("continues when its sender disconnects, and can be replayed, also while it still runs (LEG-51, LEG-56)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers, session, listen } = await beginSession(served);
    const opening = served.listen({ headers, body: question });
    const { message, reply } = await questions.next();
    void reply.notify(wireOf({ n: 1 }));
    const stream = await opening;
    await stream.next();
    const gone = whenStreams(served, 0);
    stream.hangUp();
    await gone;
    expect([session.closed, session.peer.signal.aborted]).toEqual([false, false]);
    expect(reply.notify(wireOf({ n: 2 }))).toBeUndefined();

    const again = await listen("1-1");
    expect(await again.next()).toEqual({ id: "1-2", data: '{"n":2}' });
    void reply.notify(wireOf({ n: 3 }));
    expect(await again.next()).toEqual({ id: "1-3", data: '{"n":3}' });
    reply.end(resultOf(message));
    expect(await again.rest()).toEqual([{ id: "1-4", data: '{"jsonrpc":"2.0","id":7,"result":{}}' }]);

    // Everything again, after the end.
    expect((await (await listen("1-0")).rest()).map(({ id }) => id)).toEqual(["1-1", "1-2", "1-3", "1-4"]);
    expect(await (await listen("1-4")).rest()).toEqual([]);
  });

  it("continues when its sender disconnects before any output", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { id, session } = await beginSession(served);
    const body = JSON.stringify(question);
    const requested = once(served.listening.server, "request");
    const socket = await served.raw(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const [, response] = (await requested) as [unknown, NodeJS.EventEmitter];
    const { message, reply } = await questions.next();
    const closed = once(response, "close");
    socket.destroy();
    await closed;
    expect(session.peer.signal.aborted).toBe(false);
    expect(reply.notify(wireOf({ n: 1 }))).toBeUndefined();
    reply.end(resultOf(message));
  });
});
