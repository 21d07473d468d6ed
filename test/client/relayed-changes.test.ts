/** Lists of another server's tools and prompts, over connections that fail. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { Call } from "../../src/resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import mcp from "../../src/sources/mcp.ts";
import { openNewerAsking, openOlderAsking } from "./asking-upstreams.ts";
import { openLossyProxy } from "./lossy-proxy.ts";
import { serveFetch } from "./peers.ts";
import { openScripted } from "./scripted-server.ts";

function untilEnd<T extends AsyncDisposable>(opened: T): T {
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** Every wait takes `factor` times as long. */
async function open(url: string, era: "modern" | "legacy", factor = 1) {
  const options = mcp.options(z).parse({ url, era, tools: true, prompts: true, timeoutMs: 3000 });
  const runtime = createRuntime({ write: () => true });
  let waits = 0;
  const wait: typeof runtime.wait = (ms, signal) => {
    waits += 1;
    return runtime.wait(ms * factor, signal).finally(() => (waits -= 1));
  };
  const source = await mcp.open(options, { ...runtime, wait });
  onTestFinished(() => source.close?.());
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const call: Call = { caller: { id: "ann" }, signal: stop.signal };
  return { source, relayed: source.relayed!, call, isWaiting: () => waits > 0 };
}

describe.each([
  ["legacy", openOlderAsking],
  ["modern", openNewerAsking],
] as const)("a %s server", (era, openAsking) => {
  it("has its changes announced that were made while its stream was cut", async () => {
    const upstream = untilEnd(await openAsking());
    const proxy = untilEnd(await openLossyProxy(upstream.url));
    const { relayed, call, isWaiting } = await open(proxy.url, era);
    const changes = await relayed.watch(call);
    const [before] = await Promise.all([relayed.tools(call), relayed.prompts(call)]);
    expect(before.map(({ name }) => name)).not.toContain("late");
    await expect.poll(() => proxy.streams === 1 && !isWaiting(), { timeout: 5000 }).toBe(true);
    proxy.block();
    // Fetches of the first connection end before the change.
    await Promise.all([relayed.tools(call), relayed.prompts(call)]);
    upstream.change();
    proxy.unblock();
    const heard = new Set<string>();
    for await (const kind of changes) if (heard.add(kind).size === 2) break;
    expect((await relayed.tools(call)).map(({ name }) => name)).toContain("late");
    expect((await relayed.prompts(call)).map(({ name }) => name)).toContain("late");
  });
});

it("a server that never acknowledges a listen can be read", async () => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "slow", version: "1" }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool("tool", {}, async () => ({ content: [] }));
    server.registerResource("note", "note://one", {}, async ({ href }) => ({ contents: [{ uri: href, text: "one" }] }));
    return server;
  });
  const upstream = untilEnd(
    await serveFetch(async (request) => {
      const isListen = (await request.clone().text()).includes("subscriptions/listen");
      if (!isListen) return handler.fetch(request);
      return new Response(new ReadableStream(), { headers: { "Content-Type": "text/event-stream" } });
    }),
  );
  const { source, relayed, call } = await open(upstream.url, "modern");
  expect(await source.read((await source.list({ limit: 1 }, call)).items[0]!, call)).toMatchObject([
    { body: { text: "one" } },
  ]);
  expect(await relayed.tools(call)).toMatchObject([{ name: "tool" }]);
});

it.each([404, 400])("lists that are refused with status %i are not fetched again and again", async (status) => {
  let isRefused = false;
  const say = (result: object) => () => (isRefused ? { status } : { result });
  const server = untilEnd(
    await openScripted(
      {
        "tools/list": say({ tools: [{ name: "tool", inputSchema: { type: "object" } }] }),
        "prompts/list": say({ prompts: [{ name: "prompt" }] }),
        "tools/call": () => ({ status }),
      },
      { tools: {}, prompts: {} },
    ),
  );
  const { relayed, call } = await open(server.url, "legacy", 1000);
  await relayed.watch(call);
  expect([await relayed.tools(call), await relayed.prompts(call)]).toMatchObject([[{}], [{}]]);
  isRefused = true;
  // Connects again, after which both lists are fetched.
  await expect(relayed.callTool("tool", {}, { clientCapabilities: {} }, call)).rejects.toThrow();
  for (let turn = 0; turn < 500; turn += 1) await fetch(server.url).then((response) => response.text());
  expect(server.asked.filter((method) => method === "initialize").length).toBeLessThan(20);
});
