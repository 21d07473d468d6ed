/** How a conversation begins, in both eras, and what holds for every message of it. */
import { describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { greeting, sampleContents } from "./fixtures.ts";
import { base, legacyLegs, legs, modernLegs, openTestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";
import { clientInfo, modernMeta } from "./line/line.ts";

const all = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
const serverInfo = { name: "pressmark", version: "1.2.3" };

describe.for(legacyLegs)("a session over $transport in $revision", (leg) => {
  it("opens with the version that was asked for and says what the server can (S3-1, LEG-1, LEG-27, LEG-29)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const { opened } = await pressmark.line(leg);
    expect(opened["protocolVersion"]).toBe(leg.revision);
    expect(opened["serverInfo"]).toEqual(serverInfo);
    expect(opened["capabilities"]).toMatchObject({ resources: { subscribe: true, listChanged: true } });
  });

  it("declares completions since they are declared, and never before (LEG-22, LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const { opened } = await pressmark.line(leg);
    const capabilities = isRecord(opened["capabilities"]) ? opened["capabilities"] : {};
    expect("completions" in capabilities).toBe(leg.revision >= "2025-03-26");
  });

  it("has no method of a later revision (LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    expect((await line.error("resources/directory/read", { uri: `${base}docs` })).code).toBe(-32601);
    expect((await line.error("skills/list")).code).toBe(-32601);
    // Where both eras are spoken, a question of the modern one that does not describe itself is malformed.
    expect([-32601, -32602]).toContain((await line.error("server/discover")).code);
  });

  it("answers ping (LEG-30)", async () => {
    await using pressmark = await openTestServer();
    const line = await pressmark.line(leg);
    expect(await line.result("ping")).toEqual({});
  });

  it("refuses to be opened twice, and goes on (LEG-27)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    // Over HTTP every initialize opens a session of its own.
    if (leg.transport === "http") return;
    const again = { protocolVersion: leg.revision, capabilities: {}, clientInfo };
    expect((await line.error("initialize", again)).code).toBe(-32600);
    expect(await line.result("ping")).toEqual({});
  });
});

describe.for(legs)("messages over $transport in $revision", (leg) => {
  it("carry the id of their question, a string or an integer (LEG-33, MOD-1)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const id of ["", "a", "1", 0, -7, 2 ** 53 - 1, "長い id"]) {
      const response = await settled(await line.start("resources/list", {}, { id }));
      expect(response["id"]).toBe(id);
      expect("result" in response !== "error" in response).toBe(true);
    }
  });

  it("answer a method that no revision has with -32601 (LEG-23, LEG-33)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const method of ["resources/write", "constructor", "__proto__", "toString", ""])
      expect((await line.error(method)).code).toBe(-32601);
  });

  it("that are wrong are refused and do not end the conversation (LEG-33, LEG-36, MOD-1)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    // What is posted to a stream of its own is refused by the status of the post.
    if (leg.transport === "sse") return;
    const wrong: readonly (readonly [message: unknown, code: number])[] = [
      ["{", -32700],
      ['"text"', -32600],
      ["null", -32600],
      ["17", -32600],
      [{ jsonrpc: "1.0", id: 5, method: "resources/list" }, -32600],
      [{ jsonrpc: "2.0", id: null, method: "resources/list" }, -32600],
      [{ jsonrpc: "2.0", id: 1.5, method: "resources/list" }, -32600],
      [{ jsonrpc: "2.0", id: {}, method: "resources/list" }, -32600],
    ];
    for (const [message, code] of wrong) {
      await line.send(message);
      const { error } = await line.unasked.next();
      expect(isRecord(error) && error["code"], JSON.stringify(message)).toBe(code);
    }
    expect(await line.result("resources/list")).toHaveProperty("resources");
  });

  it("that answer nothing are ignored (MOD-10)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    if (leg.transport === "http") return;
    await line.send({ jsonrpc: "2.0", id: 99, result: {} });
    await line.notify("notifications/nobody/knows");
    expect(await line.result("resources/list")).toHaveProperty("resources");
    expect(line.unasked.size).toBe(0);
  });
});

describe("a version that the server does not speak", () => {
  it.for(["1999-01-01", "2026-07-28", "2099-01-01"])(
    "is answered with the newest that has a handshake when initialize asks for %s (LEG-29)",
    async (protocolVersion) => {
      await using pressmark = await openTestServer();
      const line = await pressmark.line({ transport: "stdio", revision: "2026-07-28" });
      await line.send({
        jsonrpc: "2.0",
        id: "open",
        method: "initialize",
        params: { protocolVersion, capabilities: {}, clientInfo },
      });
      const { result } = await line.unasked.next();
      expect(isRecord(result) && result["protocolVersion"]).toBe("2025-11-25");
    },
  );
});

describe("before the handshake", () => {
  it("only ping is answered (LEG-28)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line({ transport: "stdio", revision: "2026-07-28" });
    await line.send({ jsonrpc: "2.0", id: "early", method: "resources/list" });
    const early = await line.unasked.next();
    expect(early).toMatchObject({ id: "early", error: { code: expect.any(Number) } });
    await line.send({ jsonrpc: "2.0", id: "ping", method: "ping" });
    expect(await line.unasked.next()).toEqual({ jsonrpc: "2.0", id: "ping", result: {} });
  });
});

describe.for(modernLegs)("a modern server over $transport", (leg) => {
  it("says what it speaks and can (MOD-15, MOD-19, MOD-46)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const { opened } = await pressmark.line(leg);
    expect(opened["supportedVersions"]).toEqual(all);
    expect(opened["capabilities"]).toMatchObject({
      resources: { subscribe: true, listChanged: true },
      completions: {},
    });
    expect(opened["ttlMs"]).toBeTypeOf("number");
    expect(["public", "private"]).toContain(opened["cacheScope"]);
  });

  it("says of every result that it is complete and whose it is (MOD-2, MOD-4, MOD-8, MOD-47)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    const asks: readonly (readonly [string, JsonRecord?])[] = [
      ["server/discover"],
      ["resources/list"],
      ["resources/templates/list"],
      ["resources/read", { uri: `${base}notes.txt` }],
      ["resources/directory/read", { uri: `${base}docs` }],
      [
        "completion/complete",
        {
          ref: { type: "ref/resource", uri: `${base}greetings/{name}` },
          argument: { name: "name", value: "" },
        },
      ],
    ];
    for (const [method, params] of asks) {
      const result = await line.result(method, params);
      expect(result["resultType"], method).toBe("complete");
      expect(result["_meta"], method).toMatchObject({ "io.modelcontextprotocol/serverInfo": serverInfo });
    }
  });

  it("refuses a question that does not describe itself, and does not ask who asks (MOD-6)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const whole = modernMeta("2026-07-28");
    const { "io.modelcontextprotocol/clientCapabilities": _capabilities, ...withoutCapabilities } = whole;
    const { "io.modelcontextprotocol/clientInfo": _info, ...withoutInfo } = whole;
    await line.send({ jsonrpc: "2.0", id: "a", method: "resources/list", params: { _meta: withoutCapabilities } });
    expect(await line.unasked.next()).toMatchObject({ id: "a", error: { code: -32602 } });
    await line.send({ jsonrpc: "2.0", id: "b", method: "server/discover" });
    expect(await line.unasked.next()).toMatchObject({ id: "b", error: { code: -32602 } });
    await line.send({ jsonrpc: "2.0", id: "c", method: "resources/list", params: { _meta: withoutInfo } });
    expect(await line.unasked.next()).toMatchObject({ id: "c", result: { resultType: "complete" } });
  });

  it("names the versions it speaks to who asks for another (MOD-13)", async () => {
    await using pressmark = await openTestServer();
    const line = await pressmark.line(leg);
    const params = { _meta: modernMeta("2031-01-01") };
    await line.send({ jsonrpc: "2.0", id: "v", method: "resources/list", params });
    expect(await line.unasked.next()).toMatchObject({
      id: "v",
      error: { code: -32022, data: { supported: line.opened["supportedVersions"], requested: "2031-01-01" } },
    });
  });

  it("remembers nothing between two questions (MOD-7, MOD-9, MOD-21)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 3 });
    const one = await pressmark.line(leg);
    const first = await one.result("resources/list");
    await one.result("resources/read", { uri: `${base}notes.txt` });
    const other = await pressmark.line(leg);
    expect(await other.result("resources/list")).toEqual(first);
    const { nextCursor } = first;
    const here = await one.result("resources/list", { cursor: nextCursor ?? "" });
    expect(await other.result("resources/list", { cursor: nextCursor ?? "" })).toEqual(here);
  });

  it("takes extensions, trace context and keys that it does not know, and keeps to its own (MOD-12, MOD-16)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "vendor=1",
      baggage: "a=b",
      "example.com/unknown": { deep: [1] },
      "io.modelcontextprotocol/clientCapabilities": { extensions: { "com.example/unknown": {} } },
    };
    const response = await settled(await line.start("resources/list", {}, { meta }));
    const { result } = response;
    expect(isRecord(result) && result["resultType"]).toBe("complete");
    const keys = Object.keys(isRecord(result) && isRecord(result["_meta"]) ? result["_meta"] : {});
    for (const key of keys) expect(key).toMatch(/^(?:[a-z][a-z0-9.-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/);
  });

  it("has none of the methods that went (MOD-11)", async () => {
    await using pressmark = await openTestServer();
    const line = await pressmark.line(leg);
    const gone = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    for (const method of gone) expect((await line.error(method, { uri: `${base}notes.txt` })).code).toBe(-32601);
  });
});
