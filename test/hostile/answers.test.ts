/** Answers to what a tool asks, over HTTP: each session can answer its own questions, and no other's. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWireClient, type EventReader, type WireClient } from "../../src/transport/test-client.ts";
import { type Fixture, startFixture } from "../interop/fixture.ts";

let fixture: Fixture;
let client: WireClient;

beforeAll(async () => {
  fixture = await startFixture();
  client = createWireClient(Number(new URL(fixture.url).port));
});
afterAll(async () => {
  client.close();
  await fixture[Symbol.asyncDispose]();
});

const accepted = (name: string) => ({ action: "accept", content: { name } });

async function begin() {
  const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} } };
  const opened = await client.ask({ body: { jsonrpc: "2.0", id: 0, method: "initialize", params } });
  const headers = { "Mcp-Session-Id": opened.headers["mcp-session-id"] };
  const tool = { name: "test_input_required_result_elicitation" };
  return {
    headers,
    call: (id: number) => client.listen({ headers, body: { jsonrpc: "2.0", id, method: "tools/call", params: tool } }),
    answer: async (id: unknown, name: string) =>
      (await client.ask({ headers, body: { jsonrpc: "2.0", id, result: accepted(name) } })).status,
  };
}

/** The next message of a stream, past its greeting. */
async function next(reader: EventReader): Promise<Record<string, unknown> | undefined> {
  for (let event = await reader.next(); event; event = await reader.next())
    if (event.data) return JSON.parse(event.data) as Record<string, unknown>;
  return undefined;
}

const greeted = (name: string) => ({ result: { content: [{ text: `Hello, ${name}!` }] } });

describe("a question of a tool over HTTP", () => {
  it("is on the stream of its own call, and only its own session can answer it (LEG-49, LEG-54)", async () => {
    const [own, other] = [await begin(), await begin()];
    const standing = await client.listen({ method: "GET", headers: own.headers });
    const [first, second] = [await own.call(1), await own.call(2)];
    const asked = [await next(first), await next(second)];
    expect(asked).toMatchObject([{ method: "elicitation/create" }, { method: "elicitation/create" }]);
    expect(await other.answer(asked[0]!["id"], "Eve")).toBe(202);
    expect(await own.answer("nobody", "Eve")).toBe(202);
    expect(await own.answer(1, "Eve")).toBe(202);
    expect(await own.answer(asked[1]!["id"], "Bob")).toBe(202);
    expect(await own.answer(asked[0]!["id"], "Ada")).toBe(202);
    expect(await next(first)).toMatchObject({ id: 1, ...greeted("Ada") });
    expect(await next(second)).toMatchObject({ id: 2, ...greeted("Bob") });
    await client.ask({ method: "DELETE", headers: own.headers });
    expect(await next(standing)).toBeUndefined();
  });

  it("ends with its session, whose id then answers nothing", async () => {
    const own = await begin();
    const reader = await own.call(1);
    const asked = await next(reader);
    await client.ask({ method: "DELETE", headers: own.headers });
    expect(await next(reader)).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: asked!["id"] },
    });
    expect(await next(reader)).toBeUndefined();
    expect(await own.answer(asked!["id"], "Ada")).toBe(404);
  });
});
