/** Tools of a server that says anything: what is left out, what is removed, and that nothing is called twice. */
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openScripted, type Script } from "../../../test/client/scripted-server.ts";
import type { Call } from "../../resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import mcp from "../mcp.ts";

const call: Call = { caller: { id: "ann" }, signal: new AbortController().signal };
const input = { clientCapabilities: {} };
const inputSchema = { type: "object" };
const toolNamed = (name: string, more: object = {}) => ({ name, inputSchema, ...more });

async function open(tools: readonly object[], script: Script = {}) {
  const server = await openScripted({ "tools/list": () => ({ result: { tools } }), ...script }, { tools: {} });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const logged: string[] = [];
  const runtime = createRuntime({ write: (line: string) => Boolean(logged.push(line)) });
  const options = mcp.options(z).parse({ url: server.url, era: "legacy", tools: true, timeoutMs: 10_000 });
  const source = await mcp.open(options, runtime);
  onTestFinished(() => source.close?.());
  return { relayed: source.relayed!, logged, server };
}

it("a definition that is too large, a task and a second tool of one name are left out, each logged once", async () => {
  const { relayed, logged } = await open([
    toolNamed("good"),
    toolNamed("good", { description: "another" }),
    toolNamed("large", { description: "x".repeat(70_000) }),
    toolNamed("task", { execution: { taskSupport: "required" } }),
    ...Array.from({ length: 600 }, (_, index) => toolNamed(`t${index}`)),
  ]);
  const names = (await relayed.tools(call)).map(({ name }) => name);
  await relayed.tools(call);
  expect(names).toEqual(["good", ...Array.from({ length: 499 }, (_, index) => `t${index}`)]);
  for (const why of ["the same name", "too large", "only as a task", "more than 500"])
    expect(
      logged.filter((line) => line.includes(why)),
      why,
    ).toHaveLength(1);
});

it("members that mean something only to the other server are removed", async () => {
  const { relayed } = await open([
    toolNamed("tool", {
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
      _meta: {
        "io.modelcontextprotocol/x": 1,
        "pressmark/failures": [],
        ui: { resourceUri: "ui://page" },
        "ui/resourceUri": "ui://page",
        "example.com/kept": true,
      },
    }),
  ]);
  expect(await relayed.tools(call)).toEqual([
    {
      name: "tool",
      inputSchema: { type: "object", properties: { region: { type: "string" } } },
      meta: { "example.com/kept": true },
    },
  ]);
});

it("a resource whose URI cannot be expressed stays as text, and never as a URI", async () => {
  const content = [
    { type: "resource_link", uri: "pressmark://status", name: "status" },
    { type: "resource", resource: { uri: "a://b#c", text: "the text" } },
    { type: "resource", resource: { uri: "a://b/../c", blob: "AAAA" } },
  ];
  const { relayed } = await open([toolNamed("tool")], { "tools/call": () => ({ result: { content } }) });
  expect(await relayed.callTool("tool", {}, input, call)).toEqual({
    content: [
      { type: "text", text: "[a resource without a URI here: status]" },
      { type: "text", text: "the text" },
      { type: "text", text: "[a resource without a URI here]" },
    ],
  });
});

it("a call whose answer was lost is not repeated", async () => {
  const { relayed, server } = await open([toolNamed("tool")], { "tools/call": () => "broken off" });
  await expect(relayed.callTool("tool", {}, input, call)).rejects.toMatchObject({ kind: "unavailable" });
  expect(server.asked.filter((method) => method === "tools/call")).toHaveLength(1);
});
