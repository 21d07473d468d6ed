/** What LangChain's adapter shows its model of the results of the tools. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttp } from "../../../src/server/start-http.ts";
import { importPeer, installPeers } from "../install-peers.ts";

/** The part of `@langchain/mcp-adapters` that is used here. */
interface Adapters {
  readonly MultiServerMCPClient: new (servers: object) => {
    getTools(): Promise<readonly AdaptedTool[]>;
    close(): Promise<void>;
  };
}

interface AdaptedTool {
  readonly name: string;
  invoke(call: object): Promise<{ readonly content: unknown }>;
}

const peers = {
  folder: "langchain",
  packages: ["@langchain/mcp-adapters@1.1.4", "@langchain/core@1.2.13", "@langchain/langgraph@1.4.10"],
};
const missing = installPeers(peers);

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let root: string;
let server: HttpServer;
let client: InstanceType<Adapters["MultiServerMCPClient"]>;

beforeAll(async () => {
  if (missing !== undefined) return;
  const { MultiServerMCPClient } = (await importPeer(peers, "@langchain/mcp-adapters")) as Adapters;
  root = await mkdtemp(join(tmpdir(), "pressmark-langchain-"));
  await writeFile(join(root, "README.md"), "# The press\n\nInk dries overnight.\n");
  await writeFile(join(root, "data.bin"), Uint8Array.of(0, 1, 2));
  await writeFile(join(root, "dot.png"), Buffer.from(png, "base64"));
  const env = { XDG_STATE_HOME: join(root, ".state"), XDG_CACHE_HOME: join(root, ".cache"), HOME: root };
  const err = { write: () => true };
  server = await startHttp({ folders: [root], from: root, env, err, allowedHosts: [], version: "1", port: 0 });
  client = new MultiServerMCPClient({ mcpServers: { press: { transport: "http", url: server.url } } });
});
afterAll(async () => {
  if (missing !== undefined) return;
  await client.close();
  await server.close();
  await rm(root, { recursive: true, force: true });
});

/** The content of the message for the model, as JSON. */
async function shown(name: string, args: object): Promise<string> {
  const tool = (await client.getTools()).find((each) => each.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return JSON.stringify((await tool.invoke({ type: "tool_call", id: "1", name, args })).content);
}

const uri = (name: string) => pathToFileURL(join(root, name)).href;
const timesIn = (text: string, part: string) => text.split(part).length - 1;

describe.skipIf(missing !== undefined)(`LangChain (skipped: ${missing ?? "no"})`, () => {
  it("shows the model the text that it reads, once", async () => {
    expect(timesIn(await shown("read_resource", { uri: uri("README.md") }), "Ink dries overnight.")).toBe(1);
    const lines = await shown("read_resource", { uri: uri("README.md"), lines: "1-1" });
    expect(lines).toContain("# The press");
    expect(lines).toContain("To continue, call read_resource");
  });

  it("shows the model an image", async () => {
    expect(await shown("read_resource", { uri: uri("dot.png") })).toContain(png);
  });

  it("shows the model what the other tools found", async () => {
    expect(await shown("list_resources", {})).toContain(uri("README.md"));
    await expect.poll(() => shown("search_resources", { query: "ink" }), { timeout: 20_000 }).toContain("overnight");
    expect(await shown("gather_context", { task: "how long does ink dry?" })).toContain("Ink dries overnight.");
  });
});
