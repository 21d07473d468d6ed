/** Any JSON value in the place of any other: the answer is a result or an error, and never a word about the inside. */
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Answer,
  dial,
  expectDiscreet,
  expectRpc,
  expectServed,
  initialize,
  legacyRevisions,
  modernBody,
  modernHeaders,
  rawPost,
  type Rpc,
  send,
} from "./attacker.ts";
import { type TestServer, memoryBase, open, openTestServer } from "./test-server.ts";

const seed = 20_260_728;
const numRuns = 40;

type Shape = Readonly<Record<string, unknown>>;

/** Parameters that are right, so that one wrong member at a time gets as far in as it can. */
function rightParams(base: string): Readonly<Record<string, Shape>> {
  const uri = base + open.name;
  const template = `${memoryBase}greetings/{name}{?tone,volume}`;
  return {
    initialize: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    ping: {},
    "resources/list": { cursor: "x" },
    "resources/templates/list": { cursor: "x" },
    "resources/read": { uri },
    "resources/subscribe": { uri },
    "resources/unsubscribe": { uri },
    "resources/directory/read": { uri: `${base}shelf`, cursor: "x" },
    "subscriptions/listen": { notifications: { resourcesListChanged: true, resourceSubscriptions: [uri] } },
    "completion/complete": {
      ref: { type: "ref/resource", uri: template, name: "greet" },
      argument: { name: "name", value: "a" },
      context: { arguments: { tone: "warm" } },
    },
    "tools/list": { cursor: "x" },
    "tools/call": { name: "count", arguments: { a: 1 }, inputResponses: {}, requestState: "s" },
    "prompts/list": { cursor: "x" },
    "prompts/get": { name: "greet", arguments: { who: "ada" } },
    "server/discover": {},
    "skills/list": { cursor: "x" },
    "skills/get": { name: "x", uri },
    "logging/setLevel": { level: "info" },
  };
}

const sharp = fc.constantFrom<unknown>(
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "\0",
  "\ud800",
  "\udfff\ud800",
  "",
  " ",
  "%",
  "%00",
  "%zz",
  "..",
  "../..",
  "file:///",
  "file:///etc/passwd",
  "memory:",
  "memory://house/",
  "memory://house/greetings/%ff",
  "{",
  "{+path}",
  "\u202e",
  "a\r\nX: y",
  -0,
  2 ** 53,
  -1,
  1.5,
  1e308,
  [],
  {},
  [[]],
  [null],
  { __proto__: null },
  null,
  true,
  "x".repeat(70_000),
  Array(300).fill("file:///x"),
);
const anything = fc.oneof(
  { weight: 2, arbitrary: sharp },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  fc.string({ unit: "binary" }),
);

/** The right shape with one member, at any depth, replaced, removed, or added. */
function bent(shape: Shape): fc.Arbitrary<unknown> {
  const paths = pathsOf(shape);
  return fc.oneof(
    { weight: 1, arbitrary: anything },
    {
      weight: 8,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...paths, ["_meta"], ["_meta", "progressToken"], ["__proto__"], ["extra"]),
          anything,
          fc.boolean(),
        )
        .map(([path, value, removed]) => withMember(shape, path, removed && value === null ? undefined : value)),
    },
  );
}

function pathsOf(value: unknown, above: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[...above, name], ...pathsOf(inner, [...above, name])]);
}

function withMember(shape: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const members = Object.entries(typeof shape === "object" && shape !== null ? shape : {});
  const inner = members.find(([other]) => other === name)?.[1] as unknown;
  const kept = members.filter(([other]) => other !== name);
  // Entries, so that "__proto__" becomes a member like any other.
  return Object.fromEntries([...kept, [name, withMember(inner, rest, value)]]);
}

describe("whatever is sent", () => {
  let pressmark: TestServer;
  let right: Readonly<Record<string, Shape>>;
  beforeAll(async () => {
    pressmark = await openTestServer();
    right = rightParams(pressmark.base);
    // Someone listens all the time, so that each short listen does not start and stop the watch of the folder.
    const standing = JSON.stringify(
      modernBody("subscriptions/listen", { notifications: { resourcesListChanged: true } }),
    );
    await (await dial(pressmark, rawPost("subscriptions/listen", standing))).until("acknowledged");
  });
  afterAll(async () => {
    await expectServed(pressmark);
    expect(pressmark.log.filter((line) => line.includes(" error: "))).toEqual([]);
    await pressmark[Symbol.asyncDispose]();
  });

  function check({ status, text }: Answer, sent: string): void {
    expect([200, 202, 400, 404]).toContain(status);
    if (text === "") return;
    const rpc = expectRpc(text);
    expectDiscreet(rpc.error ? text : "", pressmark, sent);
    if (rpc.error) expect(text.length).toBeLessThan(4096 + Math.min(sent.length, 16_384));
  }

  const methods = Object.keys(rightParams("file:///"));

  it.each(methods)("in a modern %s, the answer is a result or an error", async (method) => {
    await fc.assert(
      fc.asyncProperty(bent(right[method] ?? {}), async (params) => {
        const body = modernBody(method, params);
        const { uri, name } = body["params"] as Record<string, unknown>;
        const sent = JSON.stringify(body);
        check(
          await sendBriefly(pressmark, modernHeaders(method, method === "resources/read" ? uri : name), sent),
          sent,
        );
      }),
      { seed, numRuns },
    );
  });

  describe.each(legacyRevisions)("in a session of %s", (revision) => {
    it("the answer is a result or an error, for every method", async () => {
      const session = await initialize(pressmark, revision);
      for (const method of methods) {
        await fc.assert(
          fc.asyncProperty(bent(right[method] ?? {}), async (params) => {
            const sent = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
            check(await sendBriefly(pressmark, { "Mcp-Session-Id": session }, sent), sent);
          }),
          { seed, numRuns: numRuns / 2 },
        );
      }
    });
  });

  it("as a body, the answer is an error, or nothing to a notification", async () => {
    const session = await initialize(pressmark);
    const member = (usual: unknown) =>
      fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: anything });
    const message = fc.record(
      {
        jsonrpc: member("2.0"),
        id: member(1),
        method: member("ping"),
        params: member({}),
        result: anything,
        error: anything,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(anything, message, fc.array(message, { maxLength: 3 })), async (body) => {
        const sent = JSON.stringify(body) ?? "null";
        check(await sendBriefly(pressmark, { "Mcp-Session-Id": session }, sent), sent);
        check(await sendBriefly(pressmark, modernHeaders("ping"), sent), sent);
      }),
      { seed, numRuns: 300 },
    );
  });

  it("in a batch, each message has its own answer", async () => {
    const session = await initialize(pressmark, "2025-03-26");
    const one = fc
      .constantFrom(...methods)
      .chain((method) => bent(right[method] ?? {}).map((params) => ({ jsonrpc: "2.0", method, params })));
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 20 }), async (batch) => {
        const body = JSON.stringify(batch.map((message, id) => ({ ...message, id })));
        const { text } = await send(pressmark, { headers: { "Mcp-Session-Id": session }, body });
        const answers = JSON.parse(text) as Rpc[];
        expect(answers.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual(batch.map((_, id) => id));
      }),
      { seed, numRuns: 40 },
    );
  });

  it("in headers that should agree with the body, the answer is an error", async () => {
    const uri = pressmark.base + open.name;
    const body = JSON.stringify(modernBody("resources/read", { uri }));
    const wrongNames = [
      "",
      "x",
      "=?base64?",
      "=?base64??=",
      "=?base64?!!!!?=",
      "=?base64?Zm9v?=",
      "=?base64?=?=",
      `=?base64?${"A".repeat(6000)}?=`,
      `=?BASE64?${Buffer.from(uri).toString("base64")}?=`,
      `=?base64?${Buffer.from(`${uri}\r\nX: y`).toString("base64")}?=`,
      `=?base64?${Buffer.from(uri).toString("base64").slice(0, -3)}?=`,
      `=?base64?${Buffer.from(`${uri}\0`).toString("base64url")}?=`,
      `${uri}, ${uri}`,
      `${uri}#`,
      encodeURIComponent(uri),
    ];
    for (const name of wrongNames) {
      const headers = { ...modernHeaders("resources/read"), "Mcp-Name": name };
      const { status, text } = await send(pressmark, { headers, body });
      expect([name, status, expectRpc(text).error?.code]).toEqual([name, 400, -32020]);
      expectDiscreet(text, pressmark, body);
    }
    for (const method of ["", "RESOURCES/READ", "resources/read, resources/read", "resources/list", "__proto__"]) {
      const headers = { ...modernHeaders("resources/read", uri), "Mcp-Method": method };
      expect((await send(pressmark, { headers, body })).status).toBe(400);
    }
    for (const version of ["", "2026-07-29", "2025-11-25", "__proto__", "x".repeat(8000)]) {
      const headers = { ...modernHeaders("resources/read", uri), "MCP-Protocol-Version": version };
      const { status, text } = await send(pressmark, { headers, body });
      expect(status).toBe(400);
      expect(text.length).toBeLessThan(1024);
    }
    await expectServed(pressmark);
  });
});

/** Like `send`, but a stream is left after its first event: that is its answer. */
async function sendBriefly({ port }: TestServer, headers: Record<string, string>, body: string): Promise<Answer> {
  const type = { "Content-Type": "application/json" };
  const sent = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/mcp", headers: { ...type, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const status = response.statusCode ?? 0;
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk as string;
    if (response.headers["content-type"] !== "text/event-stream" || !text.includes("\n\n")) continue;
    const [first = ""] = text.split("\n\n");
    expect(JSON.parse(first.slice("data: ".length))).toMatchObject({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
    });
    text = "";
    break;
  }
  return { status, headers: response.headers, text };
}
