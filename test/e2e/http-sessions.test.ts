/** Streamable HTTP before 2026-07-28, seen from outside: statuses, headers, sessions, streams and their resumption. */
import { describe, expect, it } from "vitest";
import { checkMessage } from "../wire/check-message.ts";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { revisions, type Revision } from "../wire/schemas.ts";
import { counting, createGate, sampleContents } from "./fixtures.ts";
import { base, openTestServer, type TestServer } from "./harness.ts";
import type { ServerSentEvent } from "./line/event-stream.ts";
import { httpAsk, type HttpAnswer, type HttpAsk } from "./line/http-ask.ts";
import { acceptsBoth } from "./line/http-line.ts";
import { clientInfo } from "./line/line.ts";

const sessionRevisions = revisions.filter((each) => each >= "2025-03-26" && each !== "2026-07-28");

interface Raw {
  readonly session: string;
  post(body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>;
  get(headers?: Record<string, string>): Promise<HttpAnswer>;
  remove(): Promise<HttpAnswer>;
}

function initialize(protocolVersion: string): JsonRecord {
  return {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo },
  };
}

async function open({ url }: TestServer, revision: Revision, caller = "reader"): Promise<Raw> {
  const own = { Accept: acceptsBoth, "X-Caller": caller };
  const opened = await httpAsk(url, { headers: own, body: initialize(revision) });
  const session = String(opened.headers["mcp-session-id"]);
  await opened.text();
  const common = {
    ...own,
    "Mcp-Session-Id": session,
    ...(revision >= "2025-06-18" && { "MCP-Protocol-Version": revision }),
  };
  const ask = (how: HttpAsk, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    httpAsk(url, { ...how, headers: { ...common, ...headers } });
  const raw: Raw = {
    session,
    post: (body, headers) => ask({ body }, headers),
    get: (headers) => ask({ method: "GET" }, { Accept: "text/event-stream", ...headers }),
    remove: () => ask({ method: "DELETE" }),
  };
  const initialized = await raw.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  await initialized.text();
  return raw;
}

const list: JsonRecord = { jsonrpc: "2.0", id: 2, method: "resources/list" };

/** The first event that says something; events before it that only carry an id are given along. */
async function nextSaid(events: AsyncGenerator<ServerSentEvent>): Promise<ServerSentEvent> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error("the stream ended");
    if (value.data !== "") return value;
  }
}

describe.for(sessionRevisions)("a session in %s", (revision) => {
  it("has an id of visible characters that nobody can guess (LEG-57, LEG-62)", async () => {
    await using pressmark = await openTestServer();
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await open(pressmark, revision)).session));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{22,}$/);
  });

  it("is needed for every question, and a made-up one is not found (LEG-58, LEG-59)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const without = await httpAsk(pressmark.url, { headers: { Accept: acceptsBoth }, body: list });
    expect(without.status).toBe(400);
    const { post } = await open(pressmark, revision);
    expect((await post(list)).status).toBe(200);
    expect((await post(list, { "Mcp-Session-Id": "made-up" })).status).toBe(404);
  });

  it("ends with DELETE, and is then not found (LEG-59, LEG-60)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post, get, remove } = await open(pressmark, revision);
    const stream = await get();
    expect([200, 202, 204]).toContain((await remove()).status);
    const { done } = await stream.events().next();
    expect(done ?? false).toBe(revision < "2025-11-25");
    expect((await post(list)).status).toBe(404);
    expect((await get()).status).toBe(404);
    expect((await remove()).status).toBe(404);
  });

  it("is bound to its caller: to another it does not exist (LEG-62)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post, session } = await open(pressmark, revision, "owner");
    const theirs = await post(list, { "X-Caller": "reader" });
    const madeUp = await post(list, { "X-Caller": "reader", "Mcp-Session-Id": "made-up" });
    expect(theirs.status).toBe(404);
    expect(await theirs.text()).toBe((await madeUp.text()).replaceAll("made-up", session));
    expect((await post(list)).status).toBe(200);
  });

  it("answers a notification and a response with 202 and nothing (LEG-47)", async () => {
    await using pressmark = await openTestServer();
    const { post } = await open(pressmark, revision);
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } },
      { jsonrpc: "2.0", id: 99, result: {} },
    ]) {
      const answer = await post(body);
      expect(answer.status).toBe(202);
      expect(await answer.text()).toBe("");
    }
  });

  it("answers a question as JSON or as a stream that ends with the response (LEG-48, LEG-49)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const { post } = await open(pressmark, revision);
    const plain = await post(list);
    expect(plain.status).toBe(200);
    expect(plain.headers["content-type"]).toMatch(/^application\/json|^text\/event-stream/);
    const streamed = await post({
      jsonrpc: "2.0",
      id: 3,
      method: "resources/read",
      params: { uri: `${base}counting/3`, _meta: { progressToken: 1 } },
    });
    expect(streamed.isStream).toBe(true);
    const messages: JsonRecord[] = [];
    for await (const { data } of streamed.events()) if (data !== "") messages.push(JSON.parse(data) as JsonRecord);
    for (const message of messages) checkMessage(revision, message, "resources/read");
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.at(-1)).toMatchObject({ id: 3, result: { contents: [{ text: "counted to 3\n" }] } });
    for (const message of messages.slice(0, -1)) expect(message["method"]).toBe("notifications/progress");
  });

  it("gives a client what it accepts, or says that it cannot (LEG-48)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post } = await open(pressmark, revision);
    const json = await post(list, { Accept: "application/json" });
    expect(json.headers["content-type"]).toMatch(/^application\/json/);
    const stream = await post(list, { Accept: "text/event-stream" });
    expect(stream.isStream).toBe(true);
    const said = await nextSaid(stream.events());
    expect(JSON.parse(said.data)).toMatchObject({ id: 2, result: {} });
    expect((await post(list, { Accept: "image/png" })).status).toBe(406);
  });

  it("has a GET stream that carries announcements and no response (LEG-44, LEG-52, LEG-53)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post, get } = await open(pressmark, revision);
    const stream = await get();
    expect(stream.status).toBe(200);
    expect(stream.isStream).toBe(true);
    const subscribe = { jsonrpc: "2.0", id: 3, method: "resources/subscribe", params: { uri: `${base}notes.txt` } };
    expect(await (await post(subscribe)).json()).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    const said = await nextSaid(stream.events());
    expect(JSON.parse(said.data)).toMatchObject({ method: "notifications/resources/updated" });
    stream.hangUp();
    expect((await httpAsk(pressmark.url, { method: "PUT", body: list })).status).toBe(405);
    expect((await get({ Accept: "application/json" })).status).toBe(406);
  });

  it("says each thing on one of its streams only (LEG-54)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post, get, remove } = await open(pressmark, revision);
    const streams = [await get(), await get()];
    for (const [id, path] of ["notes.txt", "other.txt"].entries()) {
      const params = { uri: base + path };
      await (await post({ jsonrpc: "2.0", id: id + 3, method: "resources/subscribe", params })).text();
    }
    const heard: string[] = [];
    const { promise: lastHeard, resolve } = Promise.withResolvers<void>();
    const reading = streams.map(async (stream) => {
      expect(stream.isStream).toBe(true);
      for await (const { data } of stream.events()) {
        if (data !== "") heard.push(uriIn(data));
        if (heard.includes(`${base}other.txt`)) resolve();
      }
    });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    pressmark.memory.set("other.txt", "last\n");
    await lastHeard;
    // Ends both streams, after everything that was said on them.
    await (await remove()).text();
    await Promise.all(reading);
    expect(heard.sort()).toEqual([`${base}notes.txt`, `${base}other.txt`]);
  });

  it("numbers its events so that none has the id of another (LEG-55)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const { post, get } = await open(pressmark, revision);
    const ids: string[] = [];
    for (const id of [3, 4]) {
      const params = { uri: `${base}counting/3`, _meta: { progressToken: id } };
      const answer = await post({ jsonrpc: "2.0", id, method: "resources/read", params });
      for await (const event of answer.events()) if (event.id !== undefined) ids.push(event.id);
    }
    await (
      await post({ jsonrpc: "2.0", id: 5, method: "resources/subscribe", params: { uri: `${base}notes.txt` } })
    ).text();
    const stream = await get();
    const events = stream.events();
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    const said = await nextSaid(events);
    if (said.id !== undefined) ids.push(said.id);
    stream.hangUp();
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("replays to a returning reader what its stream missed, and nothing of another (LEG-50, LEG-56)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const { post, get } = await open(pressmark, revision);
    await (
      await post({ jsonrpc: "2.0", id: 3, method: "resources/subscribe", params: { uri: `${base}notes.txt` } })
    ).text();
    await (
      await post({ jsonrpc: "2.0", id: 4, method: "resources/subscribe", params: { uri: `${base}other.txt` } })
    ).text();
    const first = await get();
    pressmark.memory.set("notes.txt", "one\n");
    const heard = await nextSaid(first.events());
    first.hangUp();
    expect(heard.id).toBeTypeOf("string");
    const params = { uri: `${base}counting/3`, _meta: { progressToken: 1 } };
    const elsewhere = await post({ jsonrpc: "2.0", id: 5, method: "resources/read", params });
    expect(elsewhere.isStream).toBe(true);
    await elsewhere.text();
    pressmark.memory.set("other.txt", "two\n");
    const again = await get({ "Last-Event-ID": String(heard.id) });
    const missed = await nextSaid(again.events());
    expect(uriIn(missed.data)).toBe(`${base}other.txt`);
    again.hangUp();
  });

  it("does not take a lost connection for a withdrawal: the answer can be had later (LEG-50, LEG-51, LEG-56)", async () => {
    const gate = createGate();
    await using pressmark = await openTestServer({ sampleContents, templates: [gate.template] });
    const { post, get } = await open(pressmark, revision);
    const params = { uri: `${base}gated/lost`, _meta: { progressToken: 1 } };
    const answer = await post({ jsonrpc: "2.0", id: 9, method: "resources/read", params });
    const { id } = await nextSaid(answer.events());
    expect(id).toBeTypeOf("string");
    answer.hangUp();
    gate.open("lost");
    const again = await get({ "Last-Event-ID": String(id) });
    const said = await nextSaid(again.events());
    expect(JSON.parse(said.data)).toMatchObject({ id: 9, result: { contents: [{ text: "through lost\n" }] } });
    again.hangUp();
  });

  it("names its version in a header since 2025-06-18, and a wrong one is refused (LEG-61)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { post } = await open(pressmark, revision);
    expect((await post(list, { "MCP-Protocol-Version": "1999-01-01" })).status).toBe(400);
    expect((await post(list, { "MCP-Protocol-Version": "nonsense" })).status).toBe(400);
    expect((await post(list, { "MCP-Protocol-Version": revision })).status).toBe(200);
  });
});

describe("a session since 2025-11-25", () => {
  it("opens its streams with an id and says when to come back (LEG-50)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { get } = await open(pressmark, "2025-11-25");
    const stream = await get();
    const { value } = await stream.events().next();
    expect(value).toMatchObject({ data: "", id: expect.any(String), retry: expect.stringMatching(/^\d+$/) });
    stream.hangUp();
  });
});

describe("the endpoint", () => {
  it("takes POST, GET and DELETE, and nothing else (LEG-44, LEG-52)", async () => {
    await using pressmark = await openTestServer();
    for (const method of ["PUT", "PATCH"])
      expect((await httpAsk(pressmark.url, { method, body: list })).status).toBe(405);
    expect((await httpAsk(pressmark.url, { method: "GET", headers: { Accept: "text/event-stream" } })).status).toBe(
      400,
    );
  });

  it("takes a question without a version header as one of 2025-03-26 (LEG-61)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const { session } = await open(pressmark, "2025-03-26");
    const headers = { Accept: acceptsBoth, "Mcp-Session-Id": session };
    const answer = await httpAsk(pressmark.url, { headers, body: [list] });
    expect(await answer.json()).toMatchObject([{ id: 2, result: {} }]);
  });

  it("refuses pages of other sites and names that are not its own (LEG-42)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const ask = (headers: Record<string, string>): Promise<HttpAnswer> =>
      httpAsk(pressmark.url, { headers: { Accept: acceptsBoth, ...headers }, body: initialize("2025-11-25") });
    expect((await ask({ Origin: "https://evil.example" })).status).toBe(403);
    expect((await ask({ Origin: "null" })).status).toBe(403);
    expect((await ask({ Host: "evil.example" })).status).toBe(403);
    expect((await ask({ Origin: "http://localhost:5173" })).status).toBe(200);
    expect((await ask({})).status).toBe(200);
  });

  it("listens on this machine alone unless told otherwise (LEG-43)", async () => {
    await using pressmark = await openTestServer();
    expect(new URL(pressmark.url).hostname).toBe("127.0.0.1");
  });

  it("refuses a body that is none, or too large, and lives on (LEG-33, LEG-36)", async () => {
    await using pressmark = await openTestServer({ sampleContents, http: { maxBodyBytes: 10_000 } });
    const headers = { Accept: acceptsBoth };
    const post = (body: unknown, more = {}): Promise<HttpAnswer> =>
      httpAsk(pressmark.url, { headers: { ...headers, ...more }, body });
    const broken = await post("{");
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { code: -32700 } });
    expect((await post(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))).status).toBe(400);
    expect((await post(`"${"a".repeat(20_000)}"`)).status).toBe(413);
    expect((await post(list, { "Content-Type": "text/plain" })).status).toBe(415);
    expect((await post(initialize("2025-11-25"))).status).toBe(200);
  });
});

function uriIn(data: string): string {
  const message: unknown = JSON.parse(data);
  const params = isRecord(message) ? message["params"] : undefined;
  return isRecord(params) ? String(params["uri"]) : "";
}
