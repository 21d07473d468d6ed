import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { createProtocol } from "./create-protocol.ts";
import type { Prompt } from "./prompts.ts";
import type { Tool } from "./tools.ts";

const declared = { extensions: { "pressmark/list-filters": {} } };
const tool = (name: string): Tool => ({
  name,
  description: name,
  inputSchema: { type: "object" },
  call: async () => ({ content: [] }),
});
const prompt = (name: string): Prompt => ({ name, get: async () => ({ messages: [] }) });

/** Sends a list request of a client with these capabilities. */
async function ask(method: string, filter: unknown, clientCapabilities: object = declared) {
  const { runtime } = createClock();
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source: createMemory({ "a.md": "", "b.md": "", "b.txt": "" }).source }],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const protocol = createProtocol({
    resources,
    server: { name: "test", version: "1" },
    tools: [tool("git_log"), tool("git_show"), tool("search")],
    prompts: [prompt("gather"), prompt("greet")],
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
  };
  protocol.exchange(
    { jsonrpc: "2.0", id: 1, method, params: { filter, _meta } },
    undefined,
    { caller: { id: "me" }, signal: new AbortController().signal },
    {
      notify: () => undefined,
      end: (wire) => resolve((wire ?? []).map((piece) => Buffer.from(piece as string).toString()).join("")),
    },
  );
  return JSON.parse(await promise) as {
    readonly result?: Readonly<Record<string, readonly { readonly name: string }[]>>;
    readonly error?: { readonly code: number; readonly message: string };
  };
}

const namesIn = async (method: string, key: string, filter: unknown, capabilities?: object) =>
  (await ask(method, filter, capabilities)).result?.[key]?.map(({ name }) => name);

describe("a client that declared filters", () => {
  it("lists only what matches", async () => {
    expect(await namesIn("resources/list", "resources", { namePatterns: ["b*"] })).toEqual(["b.md", "b.txt"]);
    expect(await namesIn("resources/list", "resources", { namePatterns: ["b*"], uriPatterns: ["*.md"] })).toEqual([
      "b.md",
    ]);
    expect(await namesIn("tools/list", "tools", { namePatterns: ["git_*"] })).toEqual(["git_log", "git_show"]);
    expect(await namesIn("prompts/list", "prompts", { namePatterns: ["greet"] })).toEqual(["greet"]);
    expect(await namesIn("resources/templates/list", "resourceTemplates", { namePatterns: ["none"] })).toEqual([]);
  });

  it("lists everything with an empty filter, and fields that are not known are ignored", async () => {
    const all = ["a.md", "b.md", "b.txt"];
    for (const filter of [undefined, {}, { namePatterns: [] }, { "com.example/id": ["x"] }, { mimeTypes: ["x"] }])
      expect(await namesIn("resources/list", "resources", filter)).toEqual(all);
    // Tools have no URI.
    expect(await namesIn("tools/list", "tools", { uriPatterns: ["x"] })).toHaveLength(3);
  });

  it.each([
    [[], '"filter" must be an object'],
    ["*", '"filter" must be an object'],
    [{ namePatterns: "*" }, '"namePatterns" must be a list of patterns'],
    [{ uriPatterns: [1] }, "invalid pattern in uriPatterns: it must be a string"],
    [{ namePatterns: Array(21).fill("x") }, "too many patterns: 21 exceeds the maximum of 20 in namePatterns"],
    [
      { uriPatterns: ["x".repeat(256), "x".repeat(257)] },
      "the patterns in uriPatterns have more than 512 characters together",
    ],
    [{ namePatterns: ["?*".repeat(20), "a*"] }, "the patterns in namePatterns have more than 40 wildcards together"],
  ])("gets an error for %j", async (filter, message) => {
    for (const method of ["resources/list", "resources/templates/list", "tools/list", "prompts/list"])
      expect((await ask(method, filter)).error).toMatchObject({ code: -32602, message });
  });
});

it("a client that did not declare filters gets everything, whatever it sends", async () => {
  for (const filter of [{ namePatterns: ["b*"] }, "nonsense", [1]])
    for (const capabilities of [{}, { extensions: {} }])
      expect(await namesIn("resources/list", "resources", filter, capabilities)).toHaveLength(3);
});
