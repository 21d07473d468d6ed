/** Names that mean something to the language, to the file system or to no one, wherever a name may stand. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ask,
  askIn,
  expectDiscreet,
  expectRpc,
  expectServed,
  initialize,
  legacyRevisions,
  modernBody,
  modernHeaders,
  send,
} from "./attacker.ts";
import { type TestServer, memoryBase, open, openTestServer } from "./test-server.ts";

const inherited = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "then",
  "length",
];
const odd = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00\ud800",
  "\u202e",
  "\ufeff",
  "a\r\nb",
  "%00",
  "日本語",
  "${7*7}",
  "{{7*7}}",
  "'; drop table x; --",
];
const million = "m".repeat(1_000_000);
/** An answer to a million characters is no longer than this. */
const short = 4096;

describe("a name of any kind", () => {
  let pressmark: TestServer;
  let session: string;
  const greetings = `${memoryBase}greetings/{name}{?tone,volume}`;
  beforeAll(async () => {
    pressmark = await openTestServer();
    session = await initialize(pressmark);
  });
  afterAll(async () => {
    await expectServed(pressmark);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(pressmark.log.filter((line) => line.includes(" error: "))).toEqual([]);
    await pressmark[Symbol.asyncDispose]();
  });

  it.each([...inherited, ...odd])("is no method: %j", async (method) => {
    // What no header can say never agrees with the header that must repeat it.
    expect([-32601, -32020]).toContain((await ask(pressmark, method)).error?.code);
    for (const revision of legacyRevisions) {
      const old = await initialize(pressmark, revision);
      expect((await askIn(pressmark, old, method)).error?.code).toBe(-32601);
    }
  });

  it.each([...inherited, ...odd])("is no tool, prompt or kind of reference: %j", async (name) => {
    for (const method of ["tools/call", "prompts/get"])
      expect((await askIn(pressmark, session, method, { name, arguments: {} })).error?.code).toBe(-32602);
    const argument = { name: "name", value: "" };
    for (const ref of [
      { type: name, uri: greetings },
      { type: "ref/prompt", name },
      { type: "ref/resource", uri: name },
    ])
      expect((await askIn(pressmark, session, "completion/complete", { ref, argument })).error?.code).toBe(-32602);
  });

  it.each([...inherited, ...odd])("is no variable of a template, and no argument of a prompt: %j", async (name) => {
    for (const ref of [
      { type: "ref/resource", uri: greetings },
      { type: "ref/resource", uri: `${pressmark.base}{+path}{?lines,bytes,as}` },
    ]) {
      const asked = { ref, argument: { name, value: "a" } };
      const { result } = await askIn(pressmark, session, "completion/complete", asked);
      expect(result).toMatchObject({ completion: { values: [] } });
    }
    const settled = JSON.parse(`{${JSON.stringify(name)}:"x"}`) as object;
    const told = await askIn(pressmark, session, "completion/complete", {
      ref: { type: "ref/resource", uri: greetings },
      argument: { name: "name", value: "a" },
      context: { arguments: settled },
    });
    expect(told.result).toMatchObject({ completion: { values: ["ada", "alan"] } });
    expect((await askIn(pressmark, session, "prompts/get", { name: "greet", arguments: settled })).error?.code).toBe(
      -32602,
    );
  });

  it.each([...inherited, ...odd])("is an argument of a tool like any other: %j", async (name) => {
    const args = JSON.parse(`{${JSON.stringify(name)}:{"polluted":true}}`) as object;
    const { result } = await askIn(pressmark, session, "tools/call", { name: "count", arguments: args });
    expect(result).toMatchObject({ content: [{ text: "1" }] });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([...inherited, ...odd])("is no cursor: %j", async (cursor) => {
    for (const method of ["resources/list", "resources/templates/list", "tools/list", "prompts/list"])
      expect((await askIn(pressmark, session, method, { cursor })).error?.code).toBe(-32602);
    expect(
      (await ask(pressmark, "resources/directory/read", { uri: `${pressmark.base}shelf`, cursor })).error?.code,
    ).toBe(-32602);
  });

  it.each(inherited)("in a query is a name like any other: %j", async (name) => {
    const missing = await askIn(pressmark, session, "resources/read", {
      uri: `${pressmark.base}${open.name}?${name}=1`,
    });
    expect(missing.error).toMatchObject({ code: -32002, message: "Resource not found" });
    const below = await askIn(pressmark, session, "resources/read", {
      uri: `${memoryBase}greetings/${name}?tone=${name}`,
    });
    expect(below.result).toMatchObject({ contents: [{ text: `Hello, ${name}, ${name}\n` }] });
    const unknown = await askIn(pressmark, session, "resources/read", { uri: `${memoryBase}greetings/a?${name}=1` });
    expect(unknown.error?.code).toBe(-32002);
    const segment = await askIn(pressmark, session, "resources/read", { uri: memoryBase + name });
    expect(segment.error?.code).toBe(-32002);
  });

  it("in members of a message stays a member", async () => {
    const uri = pressmark.base + open.name;
    const body = `{"__proto__":{"id":5,"method":"ping"},"constructor":1,"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"__proto__":{"uri":"x"},"uri":${JSON.stringify(uri)}}}`;
    const { text } = await send(pressmark, { headers: { "Mcp-Session-Id": session }, body });
    expect(expectRpc(text)).toMatchObject({ id: 1, result: { contents: [{ text: open.text }] } });
    const inheritedOnly = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"__proto__":{"uri":${JSON.stringify(uri)}}}}`;
    const answered = await send(pressmark, { headers: { "Mcp-Session-Id": session }, body: inheritedOnly });
    expect(expectRpc(answered.text).error?.code).toBe(-32602);
  });

  it("in another case is another name", async () => {
    const uri = pressmark.base + open.name;
    const bodies = [
      { JSONRPC: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 1, Method: "ping" },
      { jsonrpc: "2.0", id: 1, METHOD: "ping" },
    ];
    for (const body of bodies) {
      const { status, text } = await send(pressmark, {
        headers: { "Mcp-Session-Id": session },
        body: JSON.stringify(body),
      });
      expect([status, expectRpc(text).error?.code]).toEqual([400, -32600]);
    }
    for (const [method, params] of [
      ["Ping", {}],
      ["PING", {}],
      ["Resources/Read", { uri }],
      ["resources/read ", { uri }],
    ] as const)
      expect((await askIn(pressmark, session, method, params)).error?.code).toBe(-32601);
    for (const params of [{ URI: uri }, { Uri: uri }, { "uri ": uri }, { "ur\u0131": uri }])
      expect((await askIn(pressmark, session, "resources/read", params)).error?.code).toBe(-32602);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", PARAMS: { uri }, Params: { uri } });
    const { text } = await send(pressmark, { headers: { "Mcp-Session-Id": session }, body });
    expect(expectRpc(text).error?.code).toBe(-32602);
  });

  it("with a million characters is not repeated", async () => {
    const uri = `${pressmark.base}${million}`;
    const asked: [string, Record<string, unknown>][] = [
      ["resources/read", { uri }],
      ["resources/read", { uri: million }],
      ["resources/read", { uri: `${memoryBase}greetings/a?tone=${million}` }],
      ["resources/list", { cursor: million }],
      ["resources/directory/read", { uri }],
      ["resources/directory/read", { uri: pressmark.base + "shelf", cursor: million }],
      ["completion/complete", { ref: { type: "ref/resource", uri }, argument: { name: "path", value: "" } }],
      [
        "completion/complete",
        { ref: { type: "ref/resource", uri: greetings }, argument: { name: million, value: "" } },
      ],
      [
        "completion/complete",
        { ref: { type: "ref/resource", uri: greetings }, argument: { name: "name", value: million } },
      ],
      ["completion/complete", { ref: { type: million }, argument: { name: "name", value: "" } }],
      ["tools/call", { name: million }],
      ["prompts/get", { name: million }],
      ["prompts/get", { name: "greet", arguments: { [million]: "x" } }],
      ["subscriptions/listen", { notifications: { resourceSubscriptions: million } }],
      ["subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }],
      [million, {}],
    ];
    for (const [method, params] of asked) {
      const body = JSON.stringify(modernBody(method, params));
      const { text } = await send(pressmark, { headers: modernHeaders(method.slice(0, 100)), body });
      expect(expectRpc(text).error).toBeDefined();
      expect(text.length).toBeLessThan(short);
      if (method === "subscriptions/listen" || method === million) continue;
      const old = await askIn(pressmark, session, method, params);
      expect(old.error).toBeDefined();
      expect(JSON.stringify(old).length).toBeLessThan(short);
    }
  });

  it("with a million characters is no id, and is not repeated as one", async () => {
    for (const id of [million, [million], { [million]: 1 }]) {
      const { text } = await send(pressmark, {
        headers: { "Mcp-Session-Id": session },
        body: JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }),
      });
      expect(expectRpc(text)).toMatchObject({ id: null, error: { code: -32600 } });
      expect(text.length).toBeLessThan(short);
    }
    const version = {
      "io.modelcontextprotocol/protocolVersion": million,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/list", params: { _meta: version } });
    const { text } = await send(pressmark, { headers: {}, body });
    expect(expectRpc(text).error).toBeDefined();
    expect(text.length).toBeLessThan(short);
    const opened = await send(pressmark, {
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: million } }),
    });
    expect(expectRpc(opened.text).result?.["protocolVersion"]).toBe("2025-11-25");
    expect(opened.text.length).toBeLessThan(short);
    expectDiscreet(text, pressmark);
  });

  it("in a path of the server is not found, and never long", async () => {
    for (const path of [
      "/__proto__",
      "/mcp/",
      "/MCP",
      "/mcp%00",
      "//mcp",
      "/%6dcp",
      "/../mcp",
      "/mcp/../sse",
      `/${"x".repeat(2000)}`,
    ]) {
      const { status, text } = await send(pressmark, { method: "GET", path });
      expect([path, status]).toEqual([path, 404]);
      expect(text.length).toBeLessThan(1024);
      expectDiscreet(text, pressmark);
    }
    expect((await send(pressmark, { method: "GET", path: `/${"x".repeat(4000)}` })).status).toBe(414);
    for (const id of ["__proto__", "", "x".repeat(1500), "constructor"]) {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      expect((await send(pressmark, { path: `/messages?sessionId=${id}`, body })).status).toBe(404);
      if (id !== "") expect((await send(pressmark, { headers: { "Mcp-Session-Id": id }, body })).status).toBe(404);
    }
  });
});
