/** Prompts of other servers; and tools and prompts with redaction and after a reload. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it, onTestFinished } from "vitest";
import { everything, serveSessions } from "./peers.ts";
import { serveConfig, toolsWith, visit, visitOlder } from "./relaying.ts";

const every = { source: "mcp", ...everything };

it("a prompt keeps its arguments, completes them, and embeds resources that can be read here", async () => {
  const { url } = await serveConfig({ mounts: { every: { ...every, prompts: true } } });
  const client = await visit(url);
  const isListed = async () => (await client.listPrompts()).prompts.some(({ name }) => name.startsWith("every_"));
  await expect.poll(isListed, { timeout: 15_000 }).toBe(true);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain("every_simple-prompt");
  expect(prompts.find(({ name }) => name === "every_args-prompt")).toMatchObject({
    title: "Arguments Prompt",
    arguments: [
      { name: "city", required: true },
      { name: "state", required: false },
    ],
  });
  expect((await client.listTools()).tools.filter(({ name }) => name.startsWith("every_"))).toEqual([]);

  const { messages } = await client.getPrompt({
    name: "every_resource-prompt",
    arguments: { resourceType: "Text", resourceId: "2" },
  });
  const embedded = messages.map(({ content }) => content).find((block) => block.type === "resource")!;
  expect(embedded.resource.uri).toMatch(/^mcp:\/\/every\/demo:%2F%2Fresource/);
  const { uri } = embedded.resource;
  expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });

  const complete = async (argument: string, value: string, given: Record<string, string> = {}) => {
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "every_completable-prompt" },
      argument: { name: argument, value },
      context: { arguments: given },
    });
    return completion.values;
  };
  expect(await complete("department", "S")).toEqual(["Sales", "Support"]);
  expect(await complete("name", "", { department: "Sales" })).toEqual(["David", "Eve", "Frank"]);

  const older = await visitOlder(url);
  expect((await older.getPrompt({ name: "every_args-prompt", arguments: { city: "Oslo" } })).messages[0]).toMatchObject(
    {
      role: "user",
      content: { type: "text", text: expect.stringContaining("Oslo") },
    },
  );
  await expect(older.getPrompt({ name: "every_none" })).rejects.toMatchObject({ code: -32602 });
});

it("secrets in what tools and prompts return are masked", async () => {
  const secret = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
  const text = `token ${secret}`;
  const upstream = await serveSessions(() => {
    const mcp = new McpServer({ name: "leaky", version: "1" });
    mcp.registerTool("leak", { description: text, annotations: { readOnlyHint: true } }, () => ({
      content: [
        { type: "text", text },
        { type: "resource", resource: { uri: "leak://a", text } },
        { type: "resource_link", uri: "leak://b", name: "b", description: text },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      ],
      structuredContent: { nested: [text] },
    }));
    mcp.registerPrompt("leak", { description: text }, () => ({
      messages: [{ role: "user", content: { type: "text", text } }],
    }));
    return mcp;
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const mount = { source: "mcp", url: upstream.url, tools: true, prompts: true, redact: true };
  const { url } = await serveConfig({ mounts: { up: mount } });
  const client = await visit(url);
  const called = await client.callTool({ name: "up_leak", arguments: {} });
  expect(called.content.map(({ type }) => type)).toEqual(["text", "resource", "resource_link", "image"]);
  expect(called.content[3]).toMatchObject({ data: "iVBORw0KGgo=" });
  const shown = JSON.stringify([
    called,
    (await client.listTools()).tools,
    (await client.listPrompts()).prompts,
    await client.getPrompt({ name: "up_leak" }),
  ]);
  expect(shown).toContain("token ");
  expect(shown).not.toContain(secret);
});

it("a reload that passes on tools is announced", async () => {
  const { url, reload } = await serveConfig({ mounts: { every } });
  const client = await visit(url);
  const told = Promise.withResolvers<void>();
  client.setNotificationHandler("notifications/tools/list_changed", () => told.resolve());
  await client.listen({ toolsListChanged: true });
  reload({ mounts: { every: { ...every, tools: ["echo"] } } });
  await told.promise;
  await toolsWith("every_echo", client);
});
