import { describe, expect, it } from "vitest";
import type { Reply } from "../protocol/protocol.ts";
import type { FakeMessage } from "./test-protocol.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import type { FakeServer } from "./test-server.ts";
import { itOnNode, serveFake } from "./test-server.ts";

const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };

async function begin(served: FakeServer, headers: Record<string, string> = {}) {
  const stream = await served.listen({ method: "GET", path: "/sse", headers });
  const endpoint = await stream.next();
  const path = endpoint?.data ?? "";
  const session = served.edge.sessions.at(-1);
  if (!session) throw new Error("no session");
  return { stream, endpoint, path, session, post: (body: unknown) => served.ask({ path, headers, body }) };
}

describe("HTTP+SSE of 2024-11-05", () => {
  it("first sends the path to post to, and responds on the stream (LEG-40, LEG-41)", async () => {
    const served = await serveFake();
    const { stream, endpoint, post, session } = await begin(served);
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(endpoint).toEqual({
      event: "endpoint",
      data: expect.stringMatching(/^\/messages\?sessionId=[\x21-\x7e]{30,}$/),
    });
    const taken = await post(question);
    expect([taken.status, taken.text]).toEqual([202, ""]);
    expect(await stream.next()).toEqual({
      event: "message",
      data: '{"jsonrpc":"2.0","id":7,"result":{"echo":"resources/list"}}',
    });
    void session.peer.send(wireOf({ unasked: true }));
    expect(await stream.next()).toEqual({ event: "message", data: '{"unasked":true}' });
    stream.hangUp();
  });

  it("ends the session when the stream closes", async () => {
    const served = await serveFake();
    const { stream, session, post } = await begin(served);
    const { signal } = session.peer;
    stream.hangUp();
    await served.edge.whenClosed(session);
    expect(signal.aborted).toBe(true);
    expect((await post(question)).status).toBe(404);
    expect(served.listening.http.counts).toEqual({ sessions: 0, streams: 0 });
  });

  it("knows no session that was not opened, and shows one to its caller alone (LEG-62)", async () => {
    const served = await serveFake({}, { identify: (request) => ({ id: String(request.headers.authorization) }) });
    const { path, stream } = await begin(served, { Authorization: "ann" });
    const as = async (Authorization: string, to = path) =>
      (await served.ask({ path: to, headers: { Authorization }, body: question })).status;
    expect(await as("ben")).toBe(404);
    expect(await as("ann", "/messages")).toBe(404);
    expect(await as("ann", "/messages?sessionId=nobody")).toBe(404);
    expect(await as("ann")).toBe(202);
    stream.hangUp();
  });

  it("refuses bad bodies on the post itself", async () => {
    const served = await serveFake({}, { maxBodyBytes: 100 });
    const { post, stream } = await begin(served);
    expect((await post("{")).status).toBe(400);
    expect((await post({ pad: "x".repeat(200) })).status).toBe(413);
    stream.hangUp();
  });

  it("takes no more questions than one reader can be given answers to", async () => {
    const replies: { message: FakeMessage; reply: Reply }[] = [];
    const served = await serveFake({ receive: (message, reply) => void replies.push({ message, reply }) });
    const { post, stream } = await begin(served);
    for (let id = 0; id < 64; id++) expect((await post({ ...question, id })).status).toBe(202);
    const refused = await post(question);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    for (const { message, reply } of replies) reply.end(resultOf(message));
    expect((await post(question)).status).toBe(202);
    stream.hangUp();
  });

  itOnNode("takes none while its reader is slow", async () => {
    const served = await serveFake();
    const { path, session, post, stream } = await begin(served);
    expect(path).not.toBe("");
    stream.pause();
    let pending: void | Promise<void>;
    do pending = session.peer.send([JSON.stringify("x".repeat(256 * 1024))]);
    while (pending === undefined);
    expect((await post(question)).status).toBe(503);
    stream.hangUp();
    await pending;
  });

  it("allows so many sessions and no more", async () => {
    const served = await serveFake({}, { maxSessions: 1 });
    const { stream } = await begin(served);
    expect((await served.ask({ method: "GET", path: "/sse" })).status).toBe(503);
    expect(served.edge.sessions).toHaveLength(1);
    stream.hangUp();
  });

  it("answers other methods with 405, and can be turned off", async () => {
    const served = await serveFake();
    expect((await served.ask({ path: "/sse", body: question })).headers.allow).toBe("GET, OPTIONS");
    expect((await served.ask({ method: "GET", path: "/messages" })).headers.allow).toBe("POST, OPTIONS");
    const without = await serveFake({}, { sse: false });
    expect((await without.ask({ method: "GET", path: "/sse" })).status).toBe(404);
    expect((await without.ask({ path: "/messages", body: question })).status).toBe(404);
  });
});
