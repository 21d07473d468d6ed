/** HTTP with SSE of 2024-11-05, seen from outside. */
import { describe, expect, it } from "vitest";
import { sampleContents } from "./fixtures.ts";
import { openTestServer } from "./harness.ts";
import { httpAsk } from "./line/http-ask.ts";
import { clientInfo } from "./line/line.ts";

describe("HTTP with SSE", () => {
  it("names the place to post to, and says everything on the stream (LEG-40)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const stream = await httpAsk(pressmark.sseUrl, { method: "GET", headers: { Accept: "text/event-stream" } });
    expect(stream.status).toBe(200);
    expect(stream.isStream).toBe(true);
    const events = stream.events();
    const { value: first } = await events.next();
    expect(first?.event).toBe("endpoint");
    const endpoint = new URL(first?.data ?? "", pressmark.sseUrl);
    expect(endpoint.origin).toBe(new URL(pressmark.sseUrl).origin);
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
    const posted = await httpAsk(endpoint.href, { body: { jsonrpc: "2.0", id: 1, method: "initialize", params } });
    expect(posted.status).toBe(202);
    const { value: said } = await events.next();
    expect(said?.event).toBe("message");
    expect(JSON.parse(said?.data ?? "")).toMatchObject({ id: 1, result: { protocolVersion: "2024-11-05" } });
    stream.hangUp();
  });

  it("refuses pages of other sites, and posts to a stream that is none (LEG-40, LEG-42)", async () => {
    await using pressmark = await openTestServer();
    const Accept = "text/event-stream";
    const foreign = await httpAsk(pressmark.sseUrl, {
      method: "GET",
      headers: { Accept, Origin: "https://evil.example" },
    });
    expect(foreign.status).toBe(403);
    const nowhere = new URL("/messages?sessionId=made-up", pressmark.sseUrl).href;
    expect((await httpAsk(nowhere, { body: { jsonrpc: "2.0", id: 1, method: "ping" } })).status).toBe(404);
  });

  it("keeps a stream's place from other callers (LEG-40)", async () => {
    await using pressmark = await openTestServer();
    const stream = await httpAsk(pressmark.sseUrl, { method: "GET", headers: { "X-Caller": "owner" } });
    const { value: first } = await stream.events().next();
    const endpoint = new URL(first?.data ?? "", pressmark.sseUrl).href;
    const body = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await httpAsk(endpoint, { headers: { "X-Caller": "reader" }, body })).status).toBe(404);
    expect((await httpAsk(endpoint, { headers: { "X-Caller": "owner" }, body })).status).toBe(202);
    stream.hangUp();
  });
});
