/** Tools and prompts of the reference server through the command itself, over HTTP and stdio. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach, beforeEach, expect, it } from "vitest";
import { everything } from "../client/peers.ts";
import { toolsWith } from "../client/relaying.ts";
import { serve, stdioOf } from "./command.ts";
import { overStdio } from "./sdk-v1.ts";

let folder: string;
let config: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-relayed-"));
  config = join(folder, "pressmark.yaml");
  const every = { source: "mcp", ...everything, tools: true, prompts: true };
  writeFileSync(config, JSON.stringify({ mounts: { every } }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sum = { name: "every_get-sum", arguments: { a: 2, b: 3 } };

it("pressmark serve passes on tools, their questions and prompts", async () => {
  await using server = await serve({ config, state: join(folder, "state") });
  const client = new Client(
    { name: "interop", version: "1" },
    { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {} }, sampling: {} } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    content: { type: "text", text: "sampled here" },
    model: "none",
  }));
  await client.connect(new StreamableHTTPClientTransport(server.url));
  await toolsWith(sum.name, client);
  expect(JSON.stringify(await client.callTool(sum))).toContain("5");
  const asked = await client.callTool({ name: "every_trigger-elicitation-request", arguments: {} });
  expect(JSON.stringify(asked.content)).toMatch(/declined/i);
  const sampled = await client.callTool({
    name: "every_trigger-sampling-request",
    arguments: { prompt: "hello", maxTokens: 10 },
  });
  expect(JSON.stringify(sampled.content)).toContain("sampled here");
  await expect
    .poll(async () => (await client.listPrompts()).prompts.map(({ name }) => name), { timeout: 15_000 })
    .toContain("every_simple-prompt");
  expect((await client.getPrompt({ name: "every_simple-prompt" })).messages).toHaveLength(1);
  await client.close();
});

it("pressmark stdio passes on tools and their progress", async () => {
  const { command, env } = stdioOf({ path: folder, state: join(folder, "state") });
  const [entry = ""] = stdioOf({ path: folder, state: folder }).args;
  const client = new OlderClient({ name: "interop", version: "1" });
  await client.connect(overStdio({ command, env, args: [entry, "stdio", "--config", config] }));
  await toolsWith(sum.name, client);
  expect(JSON.stringify(await client.callTool(sum))).toContain("5");
  const told: number[] = [];
  await client.callTool(
    { name: "every_trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: ({ progress }) => void told.push(progress) },
  );
  // The last one may come together with the result.
  expect(told[0]).toBe(1);
  await client.close();
});
