/** What servers say in their own ways, and what the client makes of it. */
import { describe, expect, it } from "vitest";
import { pagesOf } from "../../src/cli/reading/pages.ts";
import { connect } from "../../src/client/connect.ts";
import { walkPages } from "../../src/client/walk-pages.ts";
import { gather } from "../../src/context/gather.ts";
import type { Call } from "../../src/resources.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { openScripted, type Said } from "./scripted-server.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
const page = (next: string) => ({ result: { resources: [{ uri: "x://a", name: "a" }], nextCursor: next } });
const text = { contents: [{ uri: "x://a", text: "a" }] };

describe("what is not there", () => {
  const ways: readonly Said[] = [
    { error: { code: -32001, message: "gone" } },
    { error: { code: -32002, message: "gone" } },
    { error: { code: -32602, message: "gone" } },
    { error: { code: -32602, message: "Resource x://a not found", data: { uri: "x://a" } } },
    { error: { code: 0, message: "Resource not found" } },
    { error: { code: -32603, message: "ENOENT: no such file or directory" } },
    { error: { code: -32601, message: "Resource not found: 'x://a'" } },
    { result: { contents: [] } },
  ];
  it.each(ways.map((said) => [JSON.stringify(said), said] as const))('throws "not-found" as %s', async (_, said) => {
    await using server = await openScripted({ "resources/read": () => said });
    const pressmark = await connect(server.url);
    await refusal(pressmark.read("x://a", call), ["not-found"], "x://a");
    await pressmark.close();
  });
});

describe("other failures", () => {
  it.each([
    [{ error: { code: -32601, message: "Method not found" } }, "unsupported"],
    [{ error: { code: -32603, message: "the disk is on fire" } }, "unexpected"],
    [
      { error: { code: -32602, message: "too large", data: { uri: "x://a", reason: "too-large", size: 9 } } },
      "too-large",
    ],
    [{ error: { code: -32603, message: "busy", data: { retryAfterMs: 5 } } }, "busy"],
    [{ status: 401 }, "denied"],
    [{ status: 403 }, "denied"],
    [{ status: 429 }, "busy"],
    [{ status: 500 }, "unavailable"],
    [{ result: { contents: [{ uri: "x://a", blob: "???" }] } }, "unexpected"],
    [{ result: { contents: "none" } }, "unexpected"],
  ] as const)("%j is %s", async (said, kind) => {
    await using server = await openScripted({ "resources/read": () => said });
    const pressmark = await connect(server.url);
    await refusal(pressmark.read("x://a", call), [kind], "x://a");
    await pressmark.close();
  });

  it.each([404, 405])(
    "a server without sessions that answers %i to the request for a stream keeps its connection",
    async (status) => {
      await using server = await openScripted({ "resources/read": () => ({ result: text }) }, undefined, status);
      const pressmark = await connect(server.url, { era: "legacy" });
      for (let reads = 0; reads < 5; reads += 1) await pressmark.read("x://a", call);
      expect(server.asked.filter((method) => method === "initialize")).toHaveLength(1);
      expect(server.asked.filter((method) => method === "resources/read")).toHaveLength(5);
      await pressmark.close();
    },
  );

  it("a method that is not there is no reason to begin anew, whatever its status", async () => {
    await using server = await openScripted({
      "resources/read": () => ({ status: 404, body: { error: { code: -32601, message: "Method not found" } } }),
    });
    const pressmark = await connect(server.url, { era: "legacy" });
    await refusal(pressmark.read("x://a", call), ["unsupported"], "x://a");
    expect(server.asked).toEqual(["initialize", "notifications/initialized", "resources/read"]);
    await pressmark.close();
  });

  it("no server at all is said at once", async () => {
    const server = await openScripted({});
    await server[Symbol.asyncDispose]();
    await refusal(connect(server.url), ["unavailable"], server.url);
    for (const url of ["nowhere", "file:///etc/passwd", ""]) await refusal(connect(url), ["invalid"], url);
  });
});

describe("what is nested without end", () => {
  // Deeper than anything that calls itself can follow.
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  it("is left out, and the rest is taken", async () => {
    const a = `{"uri":"x://a","name":"a","text":"a","_meta":${deep}}`;
    await using server = await openScripted({
      "resources/list": () => ({ json: `{"ttlMs":1000,"resources":[${a},{"uri":"x://b","name":"b"}]}` }),
      "resources/read": () => ({ json: `{"ttlMs":1000,"contents":[${a}]}` }),
    });
    const pressmark = await connect(server.url);
    expect((await pressmark.list({}, call)).items).toEqual([
      { uri: "x://a", name: "a" },
      { uri: "x://b", name: "b" },
    ]);
    expect((await pressmark.read("x://a", call)).contents).toEqual([{ uri: "x://a", body: { text: "a" } }]);
    await pressmark.close();
  });
});

describe("an answer that breaks off", () => {
  it("is asked for again, without waiting until its time is up", async () => {
    let times = 0;
    await using server = await openScripted({
      "resources/read": () => (++times < 3 ? "broken off" : { streamed: text }),
    });
    const pressmark = await connect(server.url);
    expect((await pressmark.read("x://a", call)).contents).toHaveLength(1);
    expect(times).toBe(3);
    await pressmark.close();
  });

  it("again and again is a server that cannot be reached", async () => {
    await using server = await openScripted({ "resources/read": () => "broken off" });
    const pressmark = await connect(server.url);
    const { passing } = await refusal(pressmark.read("x://a", call), ["unavailable"], "x://a");
    expect(passing).toBe(true);
    await pressmark.close();
  });
});

describe("a session that the server has forgotten", () => {
  it.each([404, 400])("is begun anew (%i)", async (status) => {
    let times = 0;
    await using server = await openScripted({
      "resources/read": () => (++times === 1 ? { status } : { result: text }),
    });
    const pressmark = await connect(server.url, { era: "legacy" });
    expect((await pressmark.read("x://a", call)).contents).toHaveLength(1);
    expect(server.asked.filter((method) => method === "initialize")).toHaveLength(2);
    await pressmark.close();
  });
});

const refused = (code: number, message: string) => ({ status: 400, body: { id: null, error: { code, message } } });
const initializations = (asked: readonly string[]) => asked.filter((method) => method === "initialize").length;
const calls = (asked: readonly string[]) => asked.filter((method) => method === "tools/call").length;

describe("status 400", () => {
  it.each([
    [-32700, "Parse error: Invalid JSON-RPC message", "unexpected"],
    [-32600, "Invalid Request", "unexpected"],
    [-32600, 'no property "missing session id" is allowed', "unexpected"],
    [-32602, "missing session", "invalid"],
    [-32000, "Bad Request", "unexpected"],
  ] as const)("with the error %i %j answers one call, and the others go on", async (code, message, kind) => {
    await using server = await openScripted({ "tools/call": () => refused(code, message) }, { tools: {} });
    const pressmark = await connect(server.url, { era: "legacy" });
    await expect(pressmark.callTool("act", {}, call)).rejects.toMatchObject({ kind });
    await expect(pressmark.callTool("act", {}, call)).rejects.toMatchObject({ kind });
    expect([initializations(server.asked), calls(server.asked)]).toEqual([1, 2]);
    await pressmark.close();
  });

  it.each([
    [-32000, "Bad Request: No valid session ID provided"],
    [-32000, "Bad Request: Server not initialized"],
    [-32000, "Bad Request: Mcp-Session-Id header is required"],
    [-32600, "Bad Request: Missing session ID"],
    [-32001, "Session not found"],
  ] as const)("with the error %i %j begins a new session, and calls again", async (code, message) => {
    let times = 0;
    const done: Said = { result: { content: [{ type: "text", text: "done" }] } };
    await using server = await openScripted(
      { "tools/call": () => (++times === 1 ? refused(code, message) : done) },
      { tools: {} },
    );
    const pressmark = await connect(server.url, { era: "legacy" });
    expect(await pressmark.callTool("act", {}, call)).toMatchObject({ content: [{ text: "done" }] });
    expect([initializations(server.asked), calls(server.asked)]).toEqual([2, 2]);
    await pressmark.close();
  });

  it("without a reason begins a new session, but calls nothing again", async () => {
    await using server = await openScripted({ "tools/call": () => ({ status: 400 }) }, { tools: {} });
    const pressmark = await connect(server.url, { era: "legacy" });
    await expect(pressmark.callTool("act", {}, call)).rejects.toMatchObject({ kind: "unavailable" });
    expect(calls(server.asked)).toBe(1);
    await pressmark.close();
  });
});

describe("a list without an end", () => {
  it.each([
    ["gives the same cursor for ever", () => page("same")],
    [
      "goes round in a circle",
      ({ cursor }: Readonly<Record<string, unknown>>) => page(cursor === "one" ? "two" : "one"),
    ],
  ] as const)("that %s is refused", async (_, list) => {
    await using server = await openScripted({ "resources/list": list });
    const pressmark = await connect(server.url);
    const walk = async () => {
      for await (const _each of walkPages((ask) => pressmark.list(ask, call)));
    };
    await refusal(walk(), ["invalid"], "the list");
    await pressmark.close();
  });

  it("is not walked for ever by those who look for something in it", async () => {
    let count = 0;
    await using server = await openScripted({
      "resources/list": () => {
        if ((count += 1) > 5000) throw new Error("it is");
        return { result: { resources: [], nextCursor: count < 3 ? String(count) : "same" } };
      },
    });
    const pressmark = await connect(server.url);
    const { receipt } = await gather(pressmark, { task: "the kettle", budget: 1000 }, call);
    expect([receipt.included, count]).toEqual([[], 4]);
    const walk = async () => {
      for await (const _each of pagesOf((ask) => pressmark.list(ask, call), { seen: () => {}, warn: () => {} }));
    };
    await refusal(walk(), ["invalid"], "the list");
    await pressmark.close();
  });

  it("that always has another page is refused after so many", async () => {
    let count = 0;
    await using server = await openScripted({ "resources/list": () => page(String((count += 1))) });
    const pressmark = await connect(server.url);
    const walk = async () => {
      for await (const _each of walkPages((ask) => pressmark.list(ask, call), { maxPages: 20 }));
    };
    await refusal(walk(), ["invalid"], "the list");
    expect(count).toBe(20);
    await pressmark.close();
  });
});

describe("a server without resources", () => {
  it("does not do that", async () => {
    await using server = await openScripted({}, { tools: {} });
    const pressmark = await connect(server.url);
    await refusal(pressmark.list({}, call), ["unsupported"], "list");
    await refusal(pressmark.watch({ list: true }, call), ["unsupported"], "watch");
    await pressmark.close();
  });
});

it("a server of the newer era that declares no changes is not asked to listen", async () => {
  const server: Said = {
    result: {
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      supportedVersions: ["2026-07-28"],
      capabilities: { resources: { subscribe: false, listChanged: false } },
      serverInfo: { name: "scripted", version: "1" },
    },
  };
  const limited: Said = { error: { code: -32603, message: "Subscription limit reached" } };
  await using other = await openScripted({ "server/discover": () => server, "subscriptions/listen": () => limited });
  const pressmark = await connect(other.url, { era: "modern" });
  for (const filter of [{ list: true }, { uris: ["x://a"] }])
    await expect(pressmark.watch(filter, call)).rejects.toMatchObject({ kind: "unsupported" });
  expect(other.asked).not.toContain("subscriptions/listen");
  await pressmark.close();
});
