import { describe, expect, it } from "vitest";
import type { FakeMessage } from "./test-protocol.ts";
import { resultOf, wireOf } from "./test-protocol.ts";
import { serveFake } from "./test-server.ts";
import { beginSession } from "./test-session.ts";

const both = "application/json, text/event-stream";
const request = { jsonrpc: "2.0", id: 78, method: "resources/read" };
const notification = { jsonrpc: "2.0", method: "notifications/cancelled" };
const progress = wireOf({ jsonrpc: "2.0", method: "notifications/progress" });

/** Ends every request without a response; one with parameters sends progress first. */
async function serveCancelled() {
  const served = await serveFake({
    receive(message: FakeMessage, reply) {
      if (message.method === "initialize") return reply.end(resultOf(message));
      if (message.params) void reply.notify(progress);
      reply.end();
    },
  });
  return { served, ...(await beginSession(served, "2025-11-25")) };
}

describe("a request of a session that is cancelled", () => {
  it.for([
    ["one request", request],
    ["a batch", [request, { ...request, id: 79 }]],
    ["a batch with a notification", [notification, request]],
  ])("ends with an empty stream, which no client resumes: %s", async ([, body]) => {
    const { served, headers } = await serveCancelled();
    const answer = await served.ask({ headers: { ...headers, Accept: both }, body });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([200, "text/event-stream", ""]);
  });

  it("ends with an error for a client that accepts no stream", async () => {
    const { served, headers } = await serveCancelled();
    const answer = await served.ask({ headers: { ...headers, Accept: "application/json" }, body: request });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ id: 78, error: { code: -32603, message: "cancelled" } });
  });

  it("ends its stream after notifications, and a client that resumes it is told that nothing is left", async () => {
    const { served, headers } = await serveCancelled();
    const events = await served.listen({
      headers: { ...headers, Accept: both },
      body: { ...request, params: {} },
    });
    const sent = await events.rest();
    expect(sent.map(({ data }) => data)).toEqual(["", progress.join("")]);
    const resume = { ...headers, "Last-Event-ID": sent.at(-1)?.id };
    expect((await served.ask({ method: "GET", headers: resume })).status).toBe(204);
    const fromStart = await served.listen({ method: "GET", headers: { ...headers, "Last-Event-ID": sent[0]?.id } });
    expect((await fromStart.rest()).map(({ data }) => data)).toEqual([progress.join("")]);
  });
});

describe("what has no response", () => {
  it.for([
    ["a notification", notification],
    ["a response", { jsonrpc: "2.0", id: 1, result: {} }],
    ["a batch of notifications", [notification, notification]],
  ])("is accepted with 202 and no body: %s", async ([, body]) => {
    const { served, headers } = await serveCancelled();
    const answer = await served.ask({ headers: { ...headers, Accept: both }, body });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([202, undefined, ""]);
  });
});

it("a request of a session that ends gets an error with its id", async () => {
  const arrived = Promise.withResolvers<void>();
  const served = await serveFake({
    receive: (message, reply) => (message.method === "initialize" ? reply.end(resultOf(message)) : arrived.resolve()),
  });
  const { headers } = await beginSession(served);
  const waiting = served.ask({ headers: { ...headers, Accept: both }, body: request });
  await arrived.promise;
  await served.ask({ method: "DELETE", headers });
  const answer = await waiting;
  expect([answer.status, answer.json()]).toMatchObject([404, { id: 78, error: { code: -32600 } }]);
});
