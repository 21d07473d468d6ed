/** Streamable HTTP of 2026-07-28, seen from outside: statuses, mirrored headers, streams and hanging up. */
import { describe, expect, it } from "vitest";
import { checkMessage } from "../wire/check-message.ts";
import type { JsonRecord } from "../wire/json.ts";
import { counting, createGate, sampleContents } from "./fixtures.ts";
import { base, openTestServer, type TestServer } from "./harness.ts";
import { httpAsk, type HttpAnswer } from "./line/http-ask.ts";
import { acceptsBoth, headerValue, modernHeaders } from "./line/http-line.ts";
import { modernMeta } from "./line/line.ts";

function question(method: string, params: JsonRecord = {}, id: string | number = 1): JsonRecord {
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: modernMeta("2026-07-28") } };
}

/** Posts with the headers that belong to the body; `headers` replaces them, and an undefined one is left out. */
async function post(
  pressmark: TestServer,
  body: JsonRecord,
  headers: Record<string, string | undefined> = {},
): Promise<HttpAnswer> {
  const all: Record<string, string | undefined> = { ...modernHeaders(body), ...headers };
  const sent = Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return httpAsk(pressmark.url, { headers: sent, body });
}

/** The status and the error's code; the message has been checked. */
async function refusal(answer: HttpAnswer, id: unknown = 1): Promise<readonly [status: number, code: unknown]> {
  const message = (await answer.json()) as { id?: unknown; error?: { code?: unknown } };
  checkMessage("2026-07-28", message);
  expect(message.id).toBe(id);
  return [answer.status, message.error?.code];
}

const list = question("resources/list");
const read = question("resources/read", { uri: `${base}notes.txt` });

describe("a modern question over HTTP", () => {
  it("is answered with 200, as JSON or as a stream that ends with the response (MOD-57, MOD-58, MOD-59)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const plain = await post(pressmark, list);
    expect(plain.status).toBe(200);
    expect(plain.headers["content-type"]).toMatch(/^application\/json/);
    checkMessage("2026-07-28", await plain.json(), "resources/list");
    const body = question("resources/read", { uri: `${base}counting/3` });
    const meta = { ...modernMeta("2026-07-28"), progressToken: 7 };
    const streamed = await post(pressmark, { ...body, params: { uri: `${base}counting/3`, _meta: meta } });
    expect(streamed.isStream).toBe(true);
    expect(streamed.headers["x-accel-buffering"]).toBe("no");
    const messages: JsonRecord[] = [];
    for await (const { data } of streamed.events()) messages.push(JSON.parse(data) as JsonRecord);
    for (const message of messages) checkMessage("2026-07-28", message, "resources/read");
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { contents: [{ text: "counted to 3\n" }] } });
    for (const message of messages.slice(0, -1)) expect(message["method"]).toBe("notifications/progress");
  });

  it("that fails in the server is answered with 200 all the same, under its id (MOD-25, MOD-67)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const missing = await post(pressmark, question("resources/read", { uri: `${base}nothing` }, "mine"));
    expect(await refusal(missing, "mine")).toEqual([200, -32602]);
  });

  it("that does not describe itself gets 400 and -32602 (MOD-6, MOD-67)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const bare = { jsonrpc: "2.0", id: 1, method: "resources/list", params: {} };
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "resources/list" };
    expect(await refusal(await post(pressmark, bare, headers))).toEqual([400, -32602]);
    const { "io.modelcontextprotocol/clientCapabilities": _gone, ...meta } = modernMeta("2026-07-28");
    expect(await refusal(await post(pressmark, { ...list, params: { _meta: meta } }))).toEqual([400, -32602]);
  });

  it("in a version that nobody speaks gets 400 and -32022 (MOD-13, MOD-62)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const future = { ...list, params: { _meta: modernMeta("2031-01-01") } };
    expect(await refusal(await post(pressmark, future))).toEqual([400, -32022]);
  });

  it("with a method that there is not gets 404 and -32601, those of earlier revisions too (MOD-62)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const gone = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    for (const method of [...gone, "resources/write", "constructor"])
      expect(await refusal(await post(pressmark, question(method))), method).toEqual([404, -32601]);
  });

  it("whose headers do not mirror its body gets 400 and -32020 (MOD-61, MOD-63, MOD-64)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const wrong: readonly (readonly [JsonRecord, Record<string, string | undefined>])[] = [
      [list, { "MCP-Protocol-Version": "2025-11-25" }],
      [list, { "MCP-Protocol-Version": undefined }],
      [list, { "Mcp-Method": "resources/read" }],
      [list, { "Mcp-Method": "Resources/List" }],
      [list, { "Mcp-Method": undefined }],
      [read, { "Mcp-Name": undefined }],
      [read, { "Mcp-Name": `${base}other.txt` }],
      [read, { "Mcp-Name": `${base}NOTES.txt` }],
      [read, { "Mcp-Name": "=?base64?not base64?=" }],
      [read, { "Mcp-Name": `=?base64?${Buffer.from(`${base}other.txt`).toString("base64")}?=` }],
    ];
    for (const [body, headers] of wrong)
      expect(await refusal(await post(pressmark, body, headers)), JSON.stringify(headers)).toEqual([400, -32020]);
  });

  it("may spell header names as it likes, pad values, and encode what headers cannot carry (MOD-63, MOD-64)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const shouted = Object.fromEntries(
      Object.entries(modernHeaders(read)).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect((await httpAsk(pressmark.url, { headers: shouted, body: read })).status).toBe(200);
    expect((await post(pressmark, list, { "Mcp-Method": "  resources/list  " })).status).toBe(200);
    const encoded = `=?base64?${Buffer.from(`${base}notes.txt`).toString("base64")}?=`;
    expect((await post(pressmark, read, { "Mcp-Name": encoded })).status).toBe(200);
    const japanese = `${base}日本語.md`;
    expect(headerValue(japanese)).toMatch(/^=\?base64\?/);
    expect((await post(pressmark, question("resources/read", { uri: japanese }))).status).toBe(200);
  });

  it("needs no session and no resumption, and ignores the headers of both (MOD-9, MOD-65)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const answer = await post(pressmark, list, { "Mcp-Session-Id": "anything", "Last-Event-ID": "17" });
    expect(answer.status).toBe(200);
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
  });

  it("that comes in a batch is refused (MOD-1)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const answer = await httpAsk(pressmark.url, { headers: modernHeaders(list), body: [list] });
    expect(answer.status).toBe(400);
    checkMessage("2026-07-28", await answer.json());
  });

  it("from a page of another site, or to a name that is not ours, gets 403 (MOD-55)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    expect((await post(pressmark, list, { Origin: "https://evil.example" })).status).toBe(403);
    expect((await post(pressmark, list, { Host: "evil.example" })).status).toBe(403);
    expect((await post(pressmark, list, { Origin: "http://127.0.0.1:3000" })).status).toBe(200);
  });

  it("is withdrawn by hanging up (MOD-60, MOD-68)", async () => {
    const gate = createGate();
    await using pressmark = await openTestServer({ sampleContents, templates: [gate.template] });
    const meta = { ...modernMeta("2026-07-28"), progressToken: 7 };
    const body = { ...question("resources/read"), params: { uri: `${base}gated/gone`, _meta: meta } };
    const answer = await post(pressmark, body);
    await gate.entered("gone");
    answer.hangUp();
    await gate.cancelled("gone");
  });
});

describe("a modern notification over HTTP", () => {
  it("gets 202 and nothing (MOD-57)", async () => {
    await using pressmark = await openTestServer();
    const body = {
      jsonrpc: "2.0",
      method: "notifications/nobody/knows",
      params: { _meta: modernMeta("2026-07-28") },
    };
    const answer = await post(pressmark, body);
    expect(answer.status).toBe(202);
    expect(await answer.text()).toBe("");
  });
});

describe("a listen over HTTP", () => {
  it("is a stream that proxies do not hold back, and ends with its result (MOD-36, MOD-58, MOD-59)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const notifications = { resourceSubscriptions: [`${base}notes.txt`] };
    const answer = await post(pressmark, question("subscriptions/listen", { notifications }, "ear"));
    expect(answer.status).toBe(200);
    expect(answer.isStream).toBe(true);
    expect(answer.headers["x-accel-buffering"]).toBe("no");
    const events = answer.events();
    const messages: unknown[] = [JSON.parse((await events.next()).value?.data ?? "null")];
    void pressmark.edge.close();
    for await (const { data } of events) messages.push(JSON.parse(data));
    for (const message of messages) checkMessage("2026-07-28", message, "subscriptions/listen");
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject({ id: "ear", result: { resultType: "complete" } });
  });

  it("cannot be had by who takes no streams (MOD-57)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const body = question("subscriptions/listen", { notifications: {} });
    const answer = await post(pressmark, body, { Accept: "application/json" });
    expect(answer.status).toBe(406);
    expect((await post(pressmark, list, { Accept: acceptsBoth })).status).toBe(200);
  });
});
