/** Resources inside what tools and prompts say, and tools that ask back. */
import { describe, expect, it } from "vitest";
import type { Prompt } from "../../src/protocol/prompts.ts";
import type { Tool } from "../../src/protocol/tools.ts";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { recordsIn } from "./answers.ts";
import { greeting, sampleContents } from "./fixtures.ts";
import { base, legacyLegs, legs, modernLegs, openTestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";
import { modernMeta } from "./line/line.ts";

const notes = `${base}notes.txt`;
const blob = `${base}blob.bin`;
const note = { uri: notes, mimeType: "text/plain", body: { text: "Buy ink.\n" } };
const anything = { type: "object" };

const gather: Tool = {
  name: "gather",
  title: "Gather",
  description: "Gives a note, and a link to another",
  inputSchema: anything,
  annotations: { readOnlyHint: true },
  async call() {
    return {
      content: [
        { type: "text", text: "two things" },
        { type: "embedded", content: note, annotations: { priority: 1, lastModified: "2026-01-02T03:04:05Z" } },
        { type: "embedded", content: { uri: blob, mimeType: "image/png", body: { bytes: Uint8Array.of(1, 2, 3) } } },
        { type: "link", resource: { uri: `${base}rich.json`, name: "rich.json", title: "Rich" } },
      ],
    };
  },
};

/** Asks for a name first, and greets once it has one. */
const asksBack: Tool = {
  name: "ask-back",
  description: "Asks who is there",
  inputSchema: anything,
  async call(_args, { inputResponses }) {
    const who = inputResponses?.["who"];
    const content = isRecord(who) && isRecord(who["content"]) ? who["content"] : undefined;
    if (content) return { content: [{ type: "text", text: `Hello, ${String(content["name"])}!` }] };
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const params = { mode: "form", message: "Who is there?", requestedSchema };
    return { inputRequests: { who: { method: "elicitation/create", params } } };
  },
};

/** Asks the client's model, and repeats what it says. */
const asksModel: Tool = {
  name: "ask-model",
  description: "Asks the model",
  inputSchema: anything,
  async call(_args, { inputResponses }) {
    if (inputResponses) return { content: [{ type: "text", text: JSON.stringify(inputResponses) }] };
    const messages = [{ role: "user", content: { type: "text", text: "Who is there?" } }];
    return { inputRequests: { who: { method: "sampling/createMessage", params: { messages, maxTokens: 9 } } } };
  },
};

const brief: Prompt = {
  name: "brief",
  description: "A note to work from",
  arguments: [{ name: "topic", description: "what about", required: true }],
  async get({ topic = "" }) {
    return {
      messages: [
        { role: "user", content: { type: "text", text: `About ${topic}:` } },
        { role: "user", content: { type: "embedded", content: note } },
      ],
    };
  },
};

const isRequest = (message: JsonRecord) => "id" in message;

/** The early draft has neither tools nor prompts. */
const talkingLegs = legs.filter(({ revision }) => revision >= "2024-11-05");

describe.for(legs)("capabilities over $transport in $revision", (leg) => {
  it("are declared if and only if their methods are there (LEG-14, LEG-30, MOD-29)", async () => {
    await using pressmark = await openTestServer({ sampleContents, tools: [gather], prompts: [brief] });
    const line = await pressmark.line(leg);
    const { capabilities } = line.opened;
    const declared = isRecord(capabilities) ? capabilities : {};
    expect("resources" in declared).toBe(true);
    for (const capability of ["tools", "prompts"]) {
      const response = await settled(await line.start(`${capability}/list`));
      expect("result" in response, capability).toBe(capability in declared);
    }
  });

  it("are not declared where there is nothing behind them (LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { capabilities } = line.opened;
    expect(Object.keys(isRecord(capabilities) ? capabilities : {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:tools|prompts)$/)]),
    );
    expect((await line.error("tools/list")).code).toBe(-32601);
    expect((await line.error("prompts/get", { name: "brief" })).code).toBe(-32601);
  });
});

describe.for(talkingLegs)("a tool over $transport in $revision", (leg) => {
  it("embeds resources that can be read again, and links to others (LEG-13, LEG-15, MOD-29)", async () => {
    await using pressmark = await openTestServer({ sampleContents, tools: [gather] });
    const line = await pressmark.line(leg);
    const content = recordsIn(await line.result("tools/call", { name: "gather", arguments: {} }), "content");
    const { revision } = leg;
    expect(content[1]).toEqual({
      type: "resource",
      resource: { uri: notes, mimeType: "text/plain", text: "Buy ink.\n" },
      annotations: { priority: 1, ...(revision >= "2025-06-18" && { lastModified: "2026-01-02T03:04:05Z" }) },
    });
    expect(content[2]).toEqual({ type: "resource", resource: { uri: blob, mimeType: "image/png", blob: "AQID" } });
    expect(content[3]).toEqual(
      revision >= "2025-06-18"
        ? { type: "resource_link", uri: `${base}rich.json`, name: "rich.json", title: "Rich" }
        : { type: "text", text: `Rich: ${base}rich.json` },
    );
    const again = recordsIn(await line.result("resources/read", { uri: notes }), "contents");
    expect(again[0]).toEqual(content[1]?.["resource"]);
  });

  it("is listed in the words of its revision, and one that is not there is refused (LEG-30)", async () => {
    await using pressmark = await openTestServer({ sampleContents, tools: [gather] });
    const line = await pressmark.line(leg);
    expect(recordsIn(await line.result("tools/list"), "tools")).toEqual([
      {
        name: "gather",
        description: "Gives a note, and a link to another",
        inputSchema: anything,
        ...(leg.revision >= "2025-03-26" && { annotations: { readOnlyHint: true } }),
        ...(leg.revision >= "2025-06-18" && { title: "Gather" }),
      },
    ]);
    expect((await line.error("tools/call", { name: "nobody" })).code).toBe(-32602);
    expect((await line.error("tools/call", {})).code).toBe(-32602);
    expect((await line.error("tools/call", { name: "gather", arguments: [] })).code).toBe(-32602);
  });
});

describe.for(talkingLegs.filter((leg) => legacyLegs.includes(leg)))(
  "a question of a tool over $transport in $revision",
  (leg) => {
    it("is a request to the client, whose answer the tool receives (LEG-30, LEG-33)", async () => {
      await using pressmark = await openTestServer({ tools: [asksBack, asksModel] });
      const line = await pressmark.line(leg);
      const called = await line.start("tools/call", { name: "ask-model" });
      const { id } = await line.unasked.until(isRequest, "the request");
      const said = { role: "assistant", content: { type: "text", text: "Ada" }, model: "m" };
      await line.send({ jsonrpc: "2.0", id, result: said });
      const content = [{ type: "text", text: JSON.stringify({ who: said }) }];
      expect((await settled(called))["result"]).toEqual({ content });

      if (leg.revision < "2025-06-18") {
        expect((await line.error("tools/call", { name: "ask-back" })).code).toBe(-32603);
        return;
      }
      const asked = await line.start("tools/call", { name: "ask-back" });
      const form = await line.unasked.until(isRequest, "the form");
      await line.send({ jsonrpc: "2.0", id: form["id"], result: { action: "accept", content: { name: "Ada" } } });
      expect((await settled(asked))["result"]).toEqual({ content: [{ type: "text", text: "Hello, Ada!" }] });
    });
  },
);

describe.for(talkingLegs)("a prompt over $transport in $revision", (leg) => {
  it("embeds a resource with its URI, its type and its content (LEG-12, MOD-29)", async () => {
    await using pressmark = await openTestServer({ sampleContents, prompts: [brief] });
    const line = await pressmark.line(leg);
    const { messages } = await line.result("prompts/get", { name: "brief", arguments: { topic: "ink" } });
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "About ink:" } },
      {
        role: "user",
        content: { type: "resource", resource: { uri: notes, mimeType: "text/plain", text: "Buy ink.\n" } },
      },
    ]);
  });

  it("takes its arguments and nothing else for its arguments (LEG-16)", async () => {
    await using pressmark = await openTestServer({ sampleContents, prompts: [brief] });
    const line = await pressmark.line(leg);
    const wrong: JsonRecord[] = [
      { name: "brief" },
      { name: "brief", arguments: {} },
      { name: "brief", arguments: { topic: 7 } },
      { name: "brief", arguments: ["ink"] },
      { name: "nobody", arguments: { topic: "ink" } },
      { name: "__proto__", arguments: { topic: "ink" } },
      {},
    ];
    for (const params of wrong)
      expect((await line.error("prompts/get", params)).code, JSON.stringify(params)).toBe(-32602);
  });
});

describe.for(modernLegs)("a tool that asks back over $transport", (leg) => {
  const elicitation = {
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };

  it("gets its answer with the next question (MOD-48, MOD-50)", async () => {
    await using pressmark = await openTestServer({ tools: [asksBack] });
    const line = await pressmark.line(leg);
    const first = await settled(await line.start("tools/call", { name: "ask-back" }, { meta: elicitation }));
    expect(first["result"]).toMatchObject({
      resultType: "input_required",
      inputRequests: { who: { method: "elicitation/create", params: { message: "Who is there?" } } },
    });
    const inputResponses = { who: { action: "accept", content: { name: "Ada" } }, unasked: { action: "decline" } };
    const second = await settled(
      await line.start("tools/call", { name: "ask-back", inputResponses }, { meta: elicitation }),
    );
    expect(second["result"]).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: "Hello, Ada!" }],
    });
  });

  it("asks nobody who did not say that they can be asked (MOD-7, MOD-48)", async () => {
    await using pressmark = await openTestServer({ tools: [asksBack] });
    const line = await pressmark.line(leg);
    expect(modernMeta("2026-07-28")["io.modelcontextprotocol/clientCapabilities"]).toEqual({});
    expect(await line.error("tools/call", { name: "ask-back" })).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: {} } },
    });
  });

  it("is the only one that does: everything else is complete (MOD-47)", async () => {
    await using pressmark = await openTestServer({
      sampleContents,
      templates: [greeting],
      tools: [gather, asksBack],
      prompts: [brief],
    });
    const line = await pressmark.line(leg);
    const asks: readonly (readonly [string, JsonRecord])[] = [
      ["server/discover", {}],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["tools/list", {}],
      ["prompts/list", {}],
      ["skills/list", {}],
      ["resources/read", { uri: notes }],
    ];
    for (const [method, params] of asks)
      expect((await line.result(method, params))["resultType"], method).toBe("complete");
  });
});
