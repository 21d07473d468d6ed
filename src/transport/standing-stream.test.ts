import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { beginSession, whenStreams } from "./test-session.ts";
import { wireOf } from "./test-protocol.ts";
import { serveFake } from "./test-server.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };

describe("the standing stream", () => {
  it("carries notifications outside requests, each once (LEG-52, LEG-53, LEG-54)", async () => {
    const served = await serveFake();
    const { session, listen } = await beginSession(served);
    const older = await listen();
    const newer = await listen();
    expect(newer.headers["content-type"]).toBe("text/event-stream");
    expect(session.peer.send(wireOf({ n: 1 }))).toBeUndefined();
    expect(await newer.next()).toEqual({ id: "2-1", data: '{"n":1}' });
    const gone = whenStreams(served, 1);
    newer.hangUp();
    await gone;
    // The older stream gets events again, because the newer one is gone.
    void session.peer.send(wireOf({ n: 2 }));
    expect(await older.next()).toEqual({ id: "1-1", data: '{"n":2}' });
    older.hangUp();
  });

  it("opens with an empty event and a time to come back from 2025-11-25 on, and not before (LEG-50)", async () => {
    const served = await serveFake();
    const late = await (await beginSession(served, "2025-11-25")).listen();
    expect(await late.next()).toEqual({ id: "1-0", retry: "1000", data: "" });
    const early = await beginSession(served, "2025-06-18");
    const stream = await early.listen();
    void early.session.peer.send(wireOf({ n: 1 }));
    expect(await stream.next()).toEqual({ id: "1-1", data: '{"n":1}' });
    late.hangUp();
    stream.hangUp();
  });

  it("is waited for while there is none, and then given what waited, in order", async () => {
    const served = await serveFake();
    const { session, listen } = await beginSession(served);
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
    const { headers, session } = await beginSession(served);
    const sending = [session.peer.send(wireOf({ n: 1 })), session.peer.send(wireOf({ n: 2 }))];
    await served.ask({ method: "DELETE", headers });
    expect(await Promise.all(sending)).toEqual([undefined, undefined]);
  });

  it("loses nothing of what thousands of senders wait with", async () => {
    const served = await serveFake();
    const { session, listen } = await beginSession(served);
    const sending = Array.from({ length: 5000 }, (_, n) => session.peer.send(wireOf({ n })));
    const stream = await listen();
    for (let n = 0; n < 5000; n++) expect((await stream.next())?.data).toBe(`{"n":${n}}`);
    await Promise.all(sending);
    stream.hangUp();
  });

  it("makes its sender wait while the reader is slow, so that little piles up", async () => {
    const served = await serveFake();
    const { id, session } = await beginSession(served);
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
    // Even a sender that does not wait cannot queue more: nothing is written before the reader has caught up.
    const written = response.writableLength;
    const more = Array.from({ length: 50 }, (_, n) => session.peer.send(wireOf({ n })));
    expect(response.writableLength).toBe(written);
    socket.resume();
    await Promise.all([pending, ...more]);
    socket.destroy();
  });

  it("is caught up on by event id: its own later events, and none of another stream (LEG-56)", async () => {
    const served = await serveFake();
    const { session, listen } = await beginSession(served);
    const first = await listen();
    void session.peer.send(wireOf({ n: 1 }));
    void session.peer.send(wireOf({ n: 2 }));
    await first.next();
    const second = await listen();
    void session.peer.send(wireOf({ other: true }));
    expect(await second.next()).toEqual({ id: "2-1", data: '{"other":true}' });

    const again = await listen("1-1");
    expect(await again.next()).toEqual({ id: "1-2", data: '{"n":2}' });
    // It replaced its earlier connection, and is the newest again.
    expect((await first.rest()).map(({ id }) => id)).toEqual(["1-2"]);
    void session.peer.send(wireOf({ n: 3 }));
    expect(await again.next()).toEqual({ id: "1-3", data: '{"n":3}' });
    second.hangUp();
    again.hangUp();
  });

  it("is a new one when the event id is unknown or makes no sense", async () => {
    const served = await serveFake();
    const { session, listen } = await beginSession(served);
    for (const [at, id] of ["9-1", "", "-", "x", "1-", "1-x", "__proto__-1", "x".repeat(900)].entries()) {
      const stream = await listen(id);
      expect(stream.status).toBe(200);
      void session.peer.send(wireOf({ id }));
      expect((await stream.next())?.id).toBe(`${at + 1}-1`);
      stream.hangUp();
    }
  });

  it("drops the oldest events when it has stored too many", async () => {
    const served = await serveFake({}, { replay: { maxEvents: 3 } });
    const { session, listen } = await beginSession(served);
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
    const { session, listen } = await beginSession(served);
    const streams = [await listen(), await listen(), await listen(), await listen(), await listen()];
    expect(await streams[0]?.rest()).toEqual([]);
    void session.peer.send(wireOf({ n: 1 }));
    expect((await streams[4]?.next())?.id).toBe("5-1");
    for (const stream of streams) stream.hangUp();
  });

  it("is refused to a reader who does not accept events", async () => {
    const served = await serveFake();
    const { headers } = await beginSession(served);
    expect((await served.ask({ method: "GET", headers: { ...headers, Accept: "application/json" } })).status).toBe(406);
  });

  it("works for hundreds of sessions at once, and leaves nothing behind", async () => {
    const served = await serveFake({}, { keepAliveMs: 100 });
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
