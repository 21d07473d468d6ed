/** Clients of others, old and new: each lists every page and reads; what can subscribe receives an update. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type HttpServer, startHttp } from "../../../src/server/start-http.ts";
import { importPeer, installPeers, modulesOf } from "../install-peers.ts";

const peers = {
  folder: "clients",
  packages: [
    "@ai-sdk/mcp@2.0.93",
    "eventsource@3.0.7",
    "mcp-remote@0.15.1",
    "mcporter@0.12.3",
    "sdk-first@npm:@modelcontextprotocol/sdk@1.0.4",
    "sdk-middle@npm:@modelcontextprotocol/sdk@1.12.0",
  ],
};
const missing = installPeers(peers);
const program = join(import.meta.dirname, "../../../bin/pressmark.js");
const names = ["a.md", "b.md", "c.md", "d e.md", "見積 書.md"];
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-clients-")));
const root = join(scratch, "served");
const config = join(scratch, "pressmark.config.json");
const env = { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch };
const uriOf = (name: string) => pathToFileURL(join(root, name)).href;
let server: HttpServer;

/** The part of these clients that is used here. */
interface PeerClient {
  listResources(params?: object): Promise<{ resources: readonly { uri: string }[]; nextCursor?: string }>;
  readResource(params: { uri: string }): Promise<{ contents: readonly { text?: string }[] }>;
  close(): Promise<void>;
}
interface SdkClient extends PeerClient {
  connect(transport: unknown): Promise<void>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  fallbackNotificationHandler?: (notification: { method: string; params?: object }) => Promise<void>;
}
type Classes = Readonly<Record<string, new (...options: readonly unknown[]) => unknown>>;

beforeAll(async () => {
  mkdirSync(root);
  for (const name of names) writeFileSync(join(root, name), `# ${name}\n`);
  const mounts = { files: { source: "file", root: "served" } };
  writeFileSync(config, JSON.stringify({ mounts, server: { pageSize: 2 } }));
  const err = { write: () => true };
  server = await startHttp({ folders: [], config, from: scratch, env, err, allowedHosts: [], version: "1", port: 0 });
});
afterAll(async () => {
  await server.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function openSdk(version: "first" | "middle", file: string, transport: string, ...options: readonly unknown[]) {
  const folder = `sdk-${version}/client`;
  const { Client } = (await importPeer(peers, `${folder}/index.js`)) as Classes;
  const { [transport]: Transport } = (await importPeer(peers, `${folder}/${file}.js`)) as Classes;
  const client = new Client!({ name: "test", version: "1" }, { capabilities: {} }) as SdkClient;
  await client.connect(new Transport!(...options));
  return client;
}

async function checkReads(client: PeerClient): Promise<void> {
  const uris: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  }
  expect(pages).toBeGreaterThan(1);
  expect(uris).toEqual(expect.arrayContaining(names.map(uriOf)));
  for (const name of names)
    expect((await client.readResource({ uri: uriOf(name) })).contents).toMatchObject([{ text: `# ${name}\n` }]);
}

async function checkUpdates(client: SdkClient): Promise<void> {
  const heard = Promise.withResolvers<unknown>();
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === "notifications/resources/updated") heard.resolve(params);
  };
  await client.subscribeResource({ uri: uriOf("a.md") });
  writeFileSync(join(root, "a.md"), "# a.md\n");
  expect(await heard.promise).toMatchObject({ uri: uriOf("a.md") });
}

/** A program as a server of the older SDKs. */
const started = (...args: readonly string[]) => ({
  command: process.execPath,
  args,
  env: { PATH: process.env["PATH"], ...env, MCP_REMOTE_CONFIG_DIR: join(scratch, "remote") },
});

describe.skipIf(missing !== undefined)(`clients (skipped: ${missing ?? "no"})`, () => {
  it("SDK 1.0.4 over stdio", async () => {
    const command = started(program, "stdio", "--config", config);
    const client = await openSdk("first", "stdio", "StdioClientTransport", command);
    await checkReads(client);
    await checkUpdates(client);
    await client.close();
  });

  it("SDK 1.0.4 over HTTP with SSE", async () => {
    // It was made for browsers.
    vi.stubGlobal("EventSource", ((await importPeer(peers, "eventsource")) as Classes)["EventSource"]);
    onTestFinished(() => void vi.unstubAllGlobals());
    const client = await openSdk("first", "sse", "SSEClientTransport", new URL("/sse", server.url));
    await checkReads(client);
    await checkUpdates(client);
    await client.close();
  });

  it("SDK 1.12.0 over HTTP", async () => {
    const client = await openSdk("middle", "streamableHttp", "StreamableHTTPClientTransport", new URL(server.url));
    await checkReads(client);
    await checkUpdates(client);
    await client.close();
  });

  it("mcp-remote, which makes a program of the server", async () => {
    const proxy = join(modulesOf(peers), "mcp-remote", "dist", "proxy.js");
    const client = await openSdk("middle", "stdio", "StdioClientTransport", started(proxy, server.url, "--allow-http"));
    await checkReads(client);
    await checkUpdates(client);
    await client.close();
  });

  it("AI SDK", async () => {
    const { createMCPClient } = (await importPeer(peers, "@ai-sdk/mcp")) as {
      createMCPClient(options: object): Promise<
        Omit<PeerClient, "listResources"> & {
          listResources(options?: { params?: object }): ReturnType<PeerClient["listResources"]>;
          readResource(options: { uri: string }): ReturnType<PeerClient["readResource"]>;
        }
      >;
    };
    const client = await createMCPClient({ transport: { type: "http", url: server.url } });
    await checkReads({
      listResources: (params) => client.listResources({ params }),
      readResource: (params) => client.readResource(params),
      close: () => client.close(),
    });
    await client.close();
  });

  it("mcporter", async () => {
    const settings = join(scratch, "mcporter.json");
    writeFileSync(settings, JSON.stringify({ mcpServers: { press: { url: server.url } }, imports: [] }));
    const run = async (...words: readonly string[]) => {
      const file = join(modulesOf(peers), ".bin", "mcporter");
      const options = { env: { PATH: process.env["PATH"], ...env }, cwd: scratch };
      return (await promisify(execFile)(file, ["--config", settings, "resource", "press", ...words], options)).stdout;
    };
    // It shows the first page alone.
    expect(await run("--json")).toContain(uriOf("a.md"));
    expect(await run(uriOf("見積 書.md"))).toContain("# 見積 書.md");
  });
});
