/** What a client lists and calls of a server's tools: how often, and as their definitions say. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { connect, type ConnectOptions, type RemoteServer } from "../../src/client/index.ts";
import { openScripted, type Said, type Script, type ScriptedServer } from "./scripted-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const done: Said = { result: { resultType: "complete", content: [{ type: "text", text: "done" }] } };
const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const discovery: Said = {
  result: {
    ...cached,
    supportedVersions: ["2026-07-28"],
    capabilities: { resources: {}, tools: {} },
    serverInfo: { name: "scripted", version: "1" },
  },
};

async function open(
  script: Script,
  options?: ConnectOptions,
): Promise<ScriptedServer & { readonly client: RemoteServer }> {
  const server = await openScripted(script, { tools: {} });
  const client = await connect(server.url, options);
  onTestFinished(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  return { ...server, client };
}

function listOf(...tools: readonly object[]): Said {
  return {
    result: { ...cached, tools: tools.map((tool) => ({ name: "act", inputSchema: { type: "object" }, ...tool })) },
  };
}

const headed = (header: string) => ({
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } },
});
const requests = (asked: readonly string[]) => asked.filter((method) => method.startsWith("tools/"));

it("calls a tool once though the response was lost, unless told that it may be called twice", async () => {
  const { client, asked } = await open({ "tools/call": () => "broken off" });
  await expect(client.callTool("act", {}, call)).rejects.toMatchObject({ kind: "unavailable" });
  expect(requests(asked)).toHaveLength(1);
  await expect(client.useTool("act", {}, call)).rejects.toMatchObject({ kind: "unavailable" });
  expect(requests(asked)).toHaveLength(2);
  await expect(client.callTool("act", {}, call, { mayRepeat: true })).rejects.toMatchObject({ kind: "unavailable" });
  expect(requests(asked)).toHaveLength(5);
});

it("calls a tool again in a new session if the server did not know the old one", async () => {
  let calls = 0;
  const { client, asked } = await open({ "tools/call": () => ((calls += 1) === 1 ? { status: 404 } : done) });
  expect(await client.callTool("act", {}, call)).toMatchObject({ content: [{ text: "done" }] });
  expect(asked.filter((method) => method === "initialize")).toHaveLength(2);
});

it("lists tools with their schemas and annotations, from all pages", async () => {
  const tool = { ...headed("Region"), outputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  const { client } = await open({
    "tools/list": ({ cursor }) =>
      cursor === undefined
        ? { result: { tools: [{ name: "act", ...tool }], nextCursor: "2" } }
        : listOf({ name: "rest" }),
  });
  expect(await client.listTools(call)).toMatchObject([{ name: "act", ...tool }, { name: "rest" }]);
});

it("refuses a list of tools that does not end", async () => {
  let page = 0;
  const { client } = await open({
    "tools/list": () => ({ result: { tools: [], nextCursor: String((page += 1)) } }),
  });
  await expect(client.listTools(call)).rejects.toMatchObject({ kind: "unexpected", message: /does not end/ });
});

it("asks for a definition once per connection, and again when the server refuses the headers made from it", async () => {
  let lists = 0;
  let calls = 0;
  const mismatch = { error: { code: -32020, message: "the header Mcp-Param-Region is missing" } };
  const { client, asked } = await open({
    "server/discover": () => discovery,
    "tools/list": () => listOf((lists += 1) === 1 ? {} : headed("Region")),
    "tools/call": () => ((calls += 1) === 2 ? { status: 400, body: mismatch } : done),
  });
  for (let times = 0; times < 3; times += 1) await client.callTool("act", { region: "here" }, call);
  expect(requests(asked)).toEqual([
    "tools/list",
    ...Array(2).fill("tools/call"),
    "tools/list",
    ...Array(2).fill("tools/call"),
  ]);
});

it("looks again for a tool that the list lacked, but not at every call", async () => {
  let nowMs = 0;
  let name = "other";
  const { client, asked } = await open(
    { "server/discover": () => discovery, "tools/list": () => listOf({ name }), "tools/call": () => done },
    { now: () => nowMs },
  );
  const calling = () => client.callTool("act", {}, call);
  for (let times = 0; times < 2; times += 1) await expect(calling()).rejects.toMatchObject({ kind: "unsupported" });
  expect(requests(asked)).toEqual(["tools/list"]);
  name = "act";
  nowMs = 10_000;
  expect(await calling()).toMatchObject({ content: [{ text: "done" }] });
});

it("neither lists nor calls a tool whose headers are invalid", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const { client, asked } = await open({
    "server/discover": () => discovery,
    "tools/list": () => listOf({ name: "fine" }, headed("not a token")),
    "tools/call": () => done,
  });
  expect(await client.tools(call)).toEqual(["fine"]);
  for (const name of ["act", "absent"])
    await expect(client.callTool(name, {}, call)).rejects.toMatchObject({ kind: "unsupported" });
  expect(asked).not.toContain("tools/call");
});

it("does not evaluate the schema that a server declares for its results", async () => {
  const outputSchema = { type: "object", properties: { word: { type: "string", pattern: "^(a+)+$" } } };
  const structuredContent = { word: `${"a".repeat(40)}!` };
  const { client } = await open({
    "server/discover": () => discovery,
    "tools/list": () => listOf({ outputSchema }),
    "tools/call": () => ({ result: { resultType: "complete", content: [], structuredContent } }),
  });
  expect(await client.callTool("act", {}, call)).toMatchObject({ structuredContent });
});

it("escapes what the official client writes of a hostile tool, in the terminal and in the log", async () => {
  const program = join(import.meta.dirname, "../../bin/pressmark.js");
  const { url } = await open({
    "server/discover": () => discovery,
    "tools/list": () => listOf({ name: '\u001b[2Jact\n{"level":"info"}', ...headed("not a token") }),
  });
  const searching = promisify(execFile)(process.execPath, [program, "search", "word", "--server", url]);
  const { stdout, stderr } = (await searching.catch((cause: unknown) => cause)) as Record<"stdout" | "stderr", string>;
  expect(stdout).toBe("");
  expect(stderr).toContain(String.raw`\x1b[2Jact\n{`);
  expect(stderr.split("\n")).toHaveLength(3);
});
