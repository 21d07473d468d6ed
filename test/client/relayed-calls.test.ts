/** Progress, cancellation, changes and questions of another server's tools, for servers and clients of both eras. */
import { describe, expect, it, onTestFinished } from "vitest";
import { type AskingUpstream, openNewerAsking, openOlderAsking } from "./asking-upstreams.ts";
import { serveConfig, visit, visitOlder } from "./relaying.ts";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  PromptListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

const eras: Readonly<Record<string, () => Promise<AskingUpstream>>> = {
  older: openOlderAsking,
  newer: openNewerAsking,
};

const rules = {
  callers: { ann: {}, ben: {} },
  rules: [{ allow: ["caller:ann", "caller:ben"] }],
};

async function open(era: string, more: object = {}) {
  const upstream = await eras[era]!();
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const mount = {
    source: "mcp",
    url: upstream.url,
    era: era === "older" ? "legacy" : "modern",
    tools: true,
    prompts: true,
  };
  return { upstream, ...(await serveConfig({ mounts: { up: mount }, ...more })) };
}

const call = (name: string) => ({ name: `up_${name}`, arguments: {} });
const text = (value: string) => ({ content: [{ type: "text", text: value }] });

describe.each(Object.keys(eras))("a server of the %s era", (era) => {
  it("reports progress to a caller, and is told that the call was cancelled", async () => {
    const { url, upstream } = await open(era);
    const client = await visit(url);
    const stop = new AbortController();
    const told = Promise.withResolvers<unknown>();
    const called = client.callTool(call("wait"), { signal: stop.signal, onprogress: told.resolve });
    called.catch(() => undefined);
    expect(await told.promise).toEqual({ progress: 1, total: 2, message: "half" });
    stop.abort();
    await expect(called).rejects.toThrow();
    await upstream.cancelled;
  });

  it("is told that a client of the older era cancelled", async () => {
    const { url, upstream } = await open(era);
    const client = await visitOlder(url);
    const stop = new AbortController();
    const told = Promise.withResolvers<unknown>();
    const called = client.callTool(call("wait"), undefined, { signal: stop.signal, onprogress: told.resolve });
    called.catch(() => undefined);
    await told.promise;
    stop.abort();
    await upstream.cancelled;
  });

  it("announces other tools and prompts to clients of both eras", async () => {
    const { url, upstream } = await open(era);
    const older = await visitOlder(url);
    const heard = { tools: Promise.withResolvers<void>(), prompts: Promise.withResolvers<void>() };
    older.setNotificationHandler(ToolListChangedNotificationSchema, () => heard.tools.resolve());
    older.setNotificationHandler(PromptListChangedNotificationSchema, () => heard.prompts.resolve());
    const newer = await visit(url);
    expect(newer.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
    });
    const told = { tools: Promise.withResolvers<void>(), prompts: Promise.withResolvers<void>() };
    newer.setNotificationHandler("notifications/tools/list_changed", () => told.tools.resolve());
    newer.setNotificationHandler("notifications/prompts/list_changed", () => told.prompts.resolve());
    const { honoredFilter } = await newer.listen({ toolsListChanged: true, promptsListChanged: true });
    expect(honoredFilter).toEqual({ toolsListChanged: true, promptsListChanged: true });
    const names = async () => (await newer.listTools()).tools.map(({ name }) => name);
    expect(await names()).not.toContain("up_late");
    await older.listTools();
    await older.listPrompts();
    upstream.change();
    await Promise.all([heard.tools.promise, heard.prompts.promise, told.tools.promise, told.prompts.promise]);
    expect(await names()).toContain("up_late");
    expect((await newer.listPrompts()).prompts.map(({ name }) => name)).toContain("up_late");
  });

  it("asks the user of a client that can answer", async () => {
    const { url } = await open(era);
    const client = await visit(url, {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      prepare(fresh) {
        fresh.setRequestHandler("elicitation/create", ({ params }) => {
          expect(params).toMatchObject({ message: "up: Which colour?" });
          return { action: "accept", content: { colour: "green" } };
        });
        fresh.setRequestHandler("sampling/createMessage", () => ({
          role: "assistant",
          content: { type: "text", text: "stone" },
          model: "none",
        }));
      },
    });
    expect(await client.callTool(call("ask"))).toMatchObject(text("accept green"));
    expect(await client.callTool(call("think"))).toMatchObject(text('{"type":"text","text":"stone"}'));
  });

  it("asks the user of an older client that can answer, in its session", async () => {
    const { url } = await open(era);
    const client = await visitOlder(url, {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      prepare(fresh) {
        fresh.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          expect(params).toMatchObject({ message: "up: Which colour?" });
          return { action: "accept", content: { colour: "green" } };
        });
        fresh.setRequestHandler(CreateMessageRequestSchema, () => ({
          role: "assistant",
          content: { type: "text", text: "stone" },
          model: "none",
        }));
      },
    });
    expect(await client.callTool(call("ask"))).toMatchObject(text("accept green"));
    expect(await client.callTool(call("think"))).toMatchObject(text('{"type":"text","text":"stone"}'));
    const silent = await visitOlder(url);
    expect(await silent.callTool(call("ask")).catch(() => ({ isError: true }))).toMatchObject({ isError: true });
  });

  it("is refused where the client cannot answer", async () => {
    const { url } = await open(era);
    const client = await visit(url);
    for (const name of ["ask", "think"])
      expect(await client.callTool(call(name)).catch(() => ({ isError: true }))).toMatchObject({ isError: true });
  });

  it("gets an answer only from the caller whom it asked, once", async () => {
    const { url, tokenOf } = await open(era, rules);
    const options = { capabilities: { elicitation: { form: {} } } };
    const ann = await visit(url, { ...options, token: await tokenOf("ann") });
    const ben = await visit(url, { ...options, token: await tokenOf("ben") });
    const manual = { allowInputRequired: true };
    const asked = (await ann.callTool(call("ask"), manual)) as unknown as Record<string, unknown>;
    expect(asked).toMatchObject({ resultType: "input_required", requestState: expect.stringMatching(/^[\w-]{43}$/) });
    const answer = {
      requestState: asked["requestState"] as string,
      inputResponses: { 1: { action: "accept", content: { colour: "red" } } },
    };
    const refused = { isError: true, content: [{ text: expect.stringContaining("request state is not valid") }] };
    expect(await ben.callTool({ ...call("ask"), ...answer } as never, manual)).toMatchObject(refused);
    expect(await ann.callTool({ ...call("think"), ...answer } as never, manual)).toMatchObject(refused);
    expect(await ann.callTool({ ...call("ask"), ...answer } as never, manual)).toMatchObject(text("accept red"));
    expect(await ann.callTool({ ...call("ask"), ...answer } as never, manual)).toMatchObject(refused);
  });
});

/** Two clients that note whom a server asked; a call of the first is running. */
async function openWithTwo(era: string) {
  const { url, tokenOf } = await open(era, rules);
  const asked: string[] = [];
  const client = async (name: string) =>
    await visit(url, {
      token: await tokenOf(name),
      capabilities: { elicitation: { form: {} } },
      prepare: (fresh) =>
        fresh.setRequestHandler("elicitation/create", () => {
          asked.push(name);
          return { action: "cancel" };
        }),
    });
  const [ann, ben] = [await client("ann"), await client("ben")];
  const stop = new AbortController();
  const told = Promise.withResolvers<unknown>();
  ann.callTool(call("wait"), { signal: stop.signal, onprogress: told.resolve }).catch(() => undefined);
  await told.promise;
  onTestFinished(() => stop.abort());
  return { ben, asked };
}

it("a question that could be for two callers reaches neither", async () => {
  const { ben, asked } = await openWithTwo("older");
  expect(await ben.callTool(call("ask"))).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("not known who should answer") }],
  });
  expect(asked).toEqual([]);
});

it("a resource that needs an answer cannot be read, and nobody is asked", async () => {
  const { ben, asked } = await openWithTwo("newer");
  await expect(ben.readResource({ uri: "mcp://up/asking:%2F%2Fsecret" })).rejects.toThrow("needs an answer");
  expect(asked).toEqual([]);
});
