/** Official clients of the older revisions answer what tools and prompts ask in the middle of a call. */
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, startFixture } from "./fixture.ts";
import * as v1 from "./sdk-v1.ts";
import * as v2 from "./sdk-v2.ts";

const info = { name: "interop", version: "1.0.0" };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const start = { command: process.execPath, args: [join(import.meta.dirname, "fixture-stdio.ts")], env: {} };
const greeting = { role: "assistant" as const, content: { type: "text" as const, text: "Welcome," }, model: "m" };
const roots = { roots: [{ uri: "file:///a" }, { uri: "file:///b" }] };

let fixture: Fixture;
const transports = {
  stdio: ({ overStdio }: typeof v1 | typeof v2) => overStdio(start),
  HTTP: ({ overHttp }: typeof v1 | typeof v2) => overHttp(new URL(fixture.url)),
  "HTTP with SSE": ({ overSse }: typeof v1 | typeof v2) => overSse(new URL("/sse", fixture.url)),
};

beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Accepts every form with what it asks for; declines every URL. */
function elicit({ mode, requestedSchema }: { mode?: string; requestedSchema?: { properties: object } }) {
  if (mode === "url") return { action: "decline" as const };
  const fields = Object.keys(requestedSchema?.properties ?? {});
  return { action: "accept" as const, content: Object.fromEntries(fields.map((field) => [field, `my ${field}`])) };
}

interface Caller extends AsyncDisposable {
  call(name: string, args?: Record<string, unknown>): Promise<unknown>;
  prompt(name: string): Promise<unknown>;
}

async function visitV1(over: keyof typeof transports, declared = {}): Promise<Caller> {
  const client = new ClientV1(info, { capabilities: declared });
  if ("elicitation" in declared) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params as Parameters<typeof elicit>[0]));
    client.setRequestHandler(CreateMessageRequestSchema, () => greeting);
    client.setRequestHandler(ListRootsRequestSchema, () => roots);
  }
  await client.connect(transports[over](v1) as Parameters<typeof client.connect>[0]);
  return {
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    prompt: (name) => client.getPrompt({ name }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function visitV2(over: keyof typeof transports, declared = {}): Promise<Caller> {
  const client = new ClientV2(info, { capabilities: declared, versionNegotiation: { mode: "legacy" } });
  if ("elicitation" in declared) {
    client.setRequestHandler("elicitation/create", ({ params }) => elicit(params as Parameters<typeof elicit>[0]));
    client.setRequestHandler("sampling/createMessage", () => greeting);
    client.setRequestHandler("roots/list", () => roots);
  }
  await client.connect(transports[over](v2) as Parameters<typeof client.connect>[0]);
  return {
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    prompt: (name) => client.getPrompt({ name }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const text = (said: string) => ({ content: [{ type: "text", text: said }] });
const visits = Object.entries({ v1: visitV1, v2: visitV2 }).flatMap(([sdk, visit]) =>
  (["stdio", "HTTP", "HTTP with SSE"] as const).map((over) => ({ sdk, over, visit })),
);

describe.each(visits)("a client of SDK $sdk over $over", ({ over, visit }) => {
  it("answers forms, URLs, the model's question and roots, all at once and one after the other", async () => {
    await using client = await visit(over, capabilities);
    expect(await client.call("test_input_required_result_multiple_inputs")).toMatchObject(
      text("Welcome, my name, of 2 roots"),
    );
    expect(await client.call("test_input_required_result_multi_round")).toMatchObject(text("my name likes my color."));
    expect(await client.prompt("test_input_required_result_prompt")).toMatchObject({
      messages: [{ content: { text: "In the context of my context: go on." } }],
    });
    expect(await client.call("test_elicitation_url")).toMatchObject(text('User response: {"action":"decline"}'));
  });
});

describe.each(visits.filter(({ over }) => over === "HTTP"))("a client of SDK $sdk", ({ over, visit }) => {
  it("is sent no URL if it declares only forms", async () => {
    await using formsOnly = await visit(over, { ...capabilities, elicitation: {} });
    await expect(formsOnly.call("test_elicitation_url")).rejects.toThrow("cannot give: elicitation");
  });

  it("that declares nothing is not asked", async () => {
    await using client = await visit(over);
    await expect(client.call("test_input_required_result_elicitation")).rejects.toThrow("cannot give: elicitation");
  });
});
