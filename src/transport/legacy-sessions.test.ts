import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { Reply } from "../protocol/edge.ts";
import type { FakeSession, Message } from "./fake-edge.ts";
import { resultOf, wireOf } from "./fake-edge.ts";
import type { Served } from "./serve-fake.ts";
import { serveFake } from "./serve-fake.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };

async function begin(served: Served, revision = "2025-06-18") {
  const id = await served.initialize(revision);
  const headers = { "Mcp-Session-Id": id };
  const session = served.edge.sessions.at(-1);
  if (!session) throw new Error("no session");
  return {
    id,
    headers,
    session,
    listen: (lastEventId?: string) =>
      served.listen({
        method: "GET",
        headers: { ...headers, ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) },
      }),
  };
}

/** Answers each question only when the test says so. */
function held() {
  const replies: { message: Message; reply: Reply }[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    receive(message: Message, reply: Reply) {
      if (message.method === "initialize") return reply.end(resultOf(message));
      replies.push({ message, reply });
      arrived.resolve();
    },
    async next(): Promise<{ message: Message; reply: Reply }> {
      while (replies.length === 0) {
        await arrived.promise;
        arrived = Promise.withResolvers();
      }
      return replies.shift() as { message: Message; reply: Reply };
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
    const { headers } = await begin(served);
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
      expect(unknown.json()).toMatchObject({ id: null, error: { message: expect.stringContaining("initialize") } });
    }
  });

  it("refuses revisions that nobody serves with 400, and takes none as said before (LEG-61)", async () => {
    const served = await serveFake();
    const { headers } = await begin(served);
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

  it("ends with DELETE: its streams end, who waits is told, later use is 404 (LEG-59, LEG-60)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers, session, listen } = await begin(served);
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

  it("ends after a while of silence, but not while a stream is open or a question under way", async () => {
    let time = 0;
    const questions = held();
    const served = await serveFake({ receive: questions.receive }, { sessionIdleMs: 20, now: () => time });
    const listening = await begin(served);
    const stream = await listening.listen();
    const asking = await begin(served);
    const answer = served.ask({ headers: asking.headers, body: question });
    const { message, reply } = await questions.next();
    const quiet = await begin(served);

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

  it("makes room for a new one when there are too many, the one idle longest first", async () => {
    const served = await serveFake({}, { maxSessions: 3 });
    const [first, second, third] = [await begin(served), await begin(served), await begin(served)];
    const stream = await first.listen();
    await served.ask({ headers: second.headers, body: question });
    await begin(served);
    expect([first, second, third].map(({ session }) => session.closed)).toEqual([false, false, true]);
    stream.hangUp();
  });

  it("is not lost to a caller who holds as many: who holds most makes room", async () => {
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
    // Ann may have as many as ben, at ben's expense, and neither can take more.
    ann.push(await open("ann"));
    expect(areClosed(flood.slice(16))).toEqual([true, false, false, false]);
    ann.push(await open("ann"));
    expect(areClosed(ann)).toEqual([true, false, false, false]);
    expect(areClosed(flood.slice(16))).toEqual([true, false, false, false]);
    // A third is let in.
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
    const streams = [await (await begin(served)).listen(), await (await begin(served)).listen()];
    const answer = await served.ask({ body: initialize });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "30"]);
    expect(served.edge.sessions).toHaveLength(2);
    for (const stream of streams) stream.hangUp();
  });
});

describe("a posted question of a session", () => {
  it("becomes a stream with event ids once something is said on the way (LEG-48, LEG-55)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers } = await begin(served);
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
    const { headers } = await begin(served, "2025-11-25");
    const opening = served.listen({ headers, body: question });
    const { reply } = await questions.next();
    void reply.notify(wireOf({ n: 1 }));
    const stream = await opening;
    expect(await stream.next()).toEqual({ id: "1-0", retry: "250", data: "" });
    expect(await stream.next()).toEqual({ id: "1-1", data: '{"n":1}' });
    reply.end();
    expect(await stream.next()).toBeUndefined();
  });

  it("goes on when its sender hangs up, and can be caught up on, also while it still runs (LEG-51, LEG-56)", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { headers, session, listen } = await begin(served);
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

    // All of it, once more, after it is over.
    expect((await (await listen("1-0")).rest()).map(({ id }) => id)).toEqual(["1-1", "1-2", "1-3", "1-4"]);
    expect(await (await listen("1-4")).rest()).toEqual([]);
  });

  it("goes on when its sender hangs up before anything was said", async () => {
    const questions = held();
    const served = await serveFake({ receive: questions.receive });
    const { id, session } = await begin(served);
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

describe("the standing stream", () => {
  it("carries what no question asked for, and each message once (LEG-52, LEG-53, LEG-54)", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    const older = await listen();
    const newer = await listen();
    expect(newer.headers["content-type"]).toBe("text/event-stream");
    expect(session.peer.send(wireOf({ n: 1 }))).toBeUndefined();
    expect(await newer.next()).toEqual({ id: "2-1", data: '{"n":1}' });
    const gone = whenStreams(served, 1);
    newer.hangUp();
    await gone;
    // The older one was quiet, and speaks again now that the newer one is gone.
    void session.peer.send(wireOf({ n: 2 }));
    expect(await older.next()).toEqual({ id: "1-1", data: '{"n":2}' });
    older.hangUp();
  });

  it("opens with an empty event and a time to come back from 2025-11-25 on, and not before (LEG-50)", async () => {
    const served = await serveFake();
    const late = await (await begin(served, "2025-11-25")).listen();
    expect(await late.next()).toEqual({ id: "1-0", retry: "1000", data: "" });
    const early = await begin(served, "2025-06-18");
    const stream = await early.listen();
    void early.session.peer.send(wireOf({ n: 1 }));
    expect(await stream.next()).toEqual({ id: "1-1", data: '{"n":1}' });
    late.hangUp();
    stream.hangUp();
  });

  it("is waited for while there is none, and then given what waited, in order", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    const sent: number[] = [];
    const sending = [1, 2, 3].map(async (n) => {
      await session.peer.send(wireOf({ n }));
      sent.push(n);
    });
    await served.ask({ headers: { "Mcp-Session-Id": "x" }, body: question });
    expect(sent).toEqual([]);
    const stream = await listen();
    await Promise.all(sending);
    expect([await stream.next(), await stream.next(), await stream.next()].map((event) => event?.data)).toEqual([
      '{"n":1}',
      '{"n":2}',
      '{"n":3}',
    ]);
    stream.hangUp();
  });

  it("is waited for no longer once the session has ended", async () => {
    const served = await serveFake();
    const { headers, session } = await begin(served);
    const sending = [session.peer.send(wireOf({ n: 1 })), session.peer.send(wireOf({ n: 2 }))];
    await served.ask({ method: "DELETE", headers });
    expect(await Promise.all(sending)).toEqual([undefined, undefined]);
  });

  it("loses nothing of what thousands of senders wait with", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    const sending = Array.from({ length: 5000 }, (_, n) => session.peer.send(wireOf({ n })));
    const stream = await listen();
    for (let n = 0; n < 5000; n++) expect((await stream.next())?.data).toBe(`{"n":${n}}`);
    await Promise.all(sending);
    stream.hangUp();
  });

  it("makes its sender wait while the reader is slow, so that little piles up", async () => {
    const served = await serveFake();
    const { id, session } = await begin(served);
    const requested = once(served.listening.server, "request");
    const socket = await served.raw(
      `GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: ${id}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    socket.pause();
    const [, response] = (await requested) as [unknown, ServerResponse];
    let pushed = 0;
    let pending: void | Promise<void>;
    do {
      pending = session.peer.send([JSON.stringify("x".repeat(64 * 1024))]);
      pushed++;
    } while (pending === undefined && pushed < 1000);
    expect(pending).toBeInstanceOf(Promise);
    expect(pushed).toBeLessThan(200);
    // Not even a sender who does not wait piles up more: what comes now is not written before the reader has caught up.
    const written = response.writableLength;
    const more = Array.from({ length: 50 }, (_, n) => session.peer.send(wireOf({ n })));
    expect(response.writableLength).toBe(written);
    socket.resume();
    await Promise.all([pending, ...more]);
    socket.destroy();
  });

  it("is caught up on by event id: its own later events, and none of another stream (LEG-56)", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    const first = await listen();
    void session.peer.send(wireOf({ n: 1 }));
    void session.peer.send(wireOf({ n: 2 }));
    await first.next();
    const second = await listen();
    void session.peer.send(wireOf({ other: true }));
    expect(await second.next()).toEqual({ id: "2-1", data: '{"other":true}' });

    const again = await listen("1-1");
    expect(await again.next()).toEqual({ id: "1-2", data: '{"n":2}' });
    // It took the place of the connection that had it before, and is the newest again.
    expect((await first.rest()).map(({ id }) => id)).toEqual(["1-2"]);
    void session.peer.send(wireOf({ n: 3 }));
    expect(await again.next()).toEqual({ id: "1-3", data: '{"n":3}' });
    second.hangUp();
    again.hangUp();
  });

  it("is a new one when the event id is unknown or makes no sense", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    for (const [at, id] of ["9-1", "", "-", "x", "1-", "1-x", "__proto__-1", "x".repeat(900)].entries()) {
      const stream = await listen(id);
      expect(stream.status).toBe(200);
      void session.peer.send(wireOf({ id }));
      expect((await stream.next())?.id).toBe(`${at + 1}-1`);
      stream.hangUp();
    }
  });

  it("forgets the oldest events when it has kept too many", async () => {
    const served = await serveFake({}, { replay: { maxEvents: 3 } });
    const { session, listen } = await begin(served);
    const stream = await listen();
    for (let n = 1; n <= 5; n++) await session.peer.send(wireOf({ n }));
    const again = await listen("1-0");
    expect([await again.next(), await again.next(), await again.next()].map((event) => event?.id)).toEqual([
      "1-3",
      "1-4",
      "1-5",
    ]);
    stream.hangUp();
    again.hangUp();
  });

  it("can be had a few times at once; the oldest beyond that ends", async () => {
    const served = await serveFake();
    const { session, listen } = await begin(served);
    const streams = [await listen(), await listen(), await listen(), await listen(), await listen()];
    expect(await streams[0]?.rest()).toEqual([]);
    void session.peer.send(wireOf({ n: 1 }));
    expect((await streams[4]?.next())?.id).toBe("5-1");
    for (const stream of streams) stream.hangUp();
  });

  it("is refused to a reader who does not accept events", async () => {
    const served = await serveFake();
    const { headers } = await begin(served);
    expect((await served.ask({ method: "GET", headers: { ...headers, Accept: "application/json" } })).status).toBe(406);
  });

  it("works for hundreds of sessions at once, and leaves nothing behind", async () => {
    const served = await serveFake({}, { keepAliveMs: 20 });
    const all = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const id = await served.initialize("2025-06-18");
        return { id, stream: await served.listen({ method: "GET", headers: { "Mcp-Session-Id": id } }) };
      }),
    );
    expect(served.listening.http.counts).toEqual({ sessions: 300, streams: 300 });
    await Promise.all(served.edge.sessions.map(({ peer }, n) => peer.send(wireOf({ n }))));
    const heard = await Promise.all(all.map(({ stream }) => stream.next()));
    expect(new Set(heard.map((event) => event?.data)).size).toBe(300);
    const closed = served.edge.sessions.map((session) => served.edge.whenClosed(session));
    for (const { id } of all) await served.ask({ method: "DELETE", headers: { "Mcp-Session-Id": id } });
    await Promise.all(closed);
    await Promise.all(all.map(({ stream }) => stream.rest()));
    expect(served.listening.http.counts).toEqual({ sessions: 0, streams: 0 });
  });
});

/** Resolves as soon as the server holds so many streams. */
async function whenStreams(served: Served, count: number): Promise<void> {
  while (served.listening.http.counts.streams !== count) await new Promise((resolve) => setImmediate(resolve));
}
