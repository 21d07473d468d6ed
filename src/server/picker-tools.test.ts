import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connect } from "../client/connect.ts";
import { pickerExtension } from "../client/extensions.ts";
import { type HttpServer, startHttp } from "./start-http.ts";

const page = { [pickerExtension]: {} };
const app = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const forPeople = ["count_tokens", "save_set", "delete_set"];
const call = { caller: { id: "test" }, signal: new AbortController().signal };
let root: string;
let open: { close(): Promise<void> }[];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-picker-tools-")));
  writeFileSync(join(root, "a.md"), "# A\n");
  open = [];
});

afterEach(async () => {
  for (const each of open.toReversed()) await each.close();
  rmSync(root, { recursive: true, force: true });
});

async function serve(config?: string, more: object = {}): Promise<HttpServer> {
  if (config !== undefined) writeFileSync(join(root, "pressmark.config.yaml"), config);
  // A config that was only found may not offer a tool that writes.
  const named = config !== undefined && { config: "pressmark.config.yaml" };
  const env = { XDG_STATE_HOME: join(root, ".state"), XDG_CACHE_HOME: join(root, ".cache"), HOME: root };
  const err = { write: () => true };
  const options = { folders: [], from: root, env, err, allowedHosts: [], version: "1", port: 0 };
  const server = await startHttp({ ...options, ...named, ...more });
  open.push(server);
  return server;
}

async function visit({ url }: HttpServer, era: "modern" | "legacy", extensions: object): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { extensions: { ...extensions } },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(client);
  return client;
}

/** The tools for people that are listed, and those that can be called. */
async function offered(server: HttpServer, era: "modern" | "legacy", extensions: object): Promise<readonly string[]> {
  const client = await visit(server, era, extensions);
  if (!client.getServerCapabilities()?.tools) return [];
  const { tools } = await client.listTools();
  const listed = forPeople.filter((name) => tools.some((tool) => tool.name === name));
  for (const name of forPeople) {
    const calling = client.callTool({ name, arguments: {} });
    if (listed.includes(name)) expect((await calling).isError).toBe(true);
    else await expect(calling).rejects.toThrow("no tool");
  }
  return listed;
}

it.each(["modern", "legacy"] as const)(
  "are offered in the %s era to the page and to apps, and to models only if the config names them",
  async (era) => {
    const server = await serve();
    expect(await offered(server, era, {})).toEqual([]);
    expect(await offered(server, era, page)).toEqual(forPeople);
    expect(await offered(server, era, app)).toEqual(forPeople);
    const named = await serve("server: { tools: [count_tokens, save_set] }\n");
    expect(await offered(named, era, {})).toEqual(["count_tokens", "save_set"]);
    // Without pick_resources there is no app.
    const reading = await serve("server: { tools: [read_resource] }\n");
    expect(await offered(reading, era, app)).toEqual([]);
    expect(await offered(reading, era, page)).toEqual(forPeople);
  },
);

async function visibilityOf(server: HttpServer): Promise<unknown> {
  const client = await visit(server, "modern", app);
  return (await client.listTools()).tools.find(({ name }) => name === "count_tokens")?._meta;
}

it("are marked as tools of an app, unless the config names them", async () => {
  expect(await visibilityOf(await serve())).toEqual({ ui: { visibility: ["app"] } });
  expect(await visibilityOf(await serve("server: { tools: [count_tokens] }\n"))).toBeUndefined();
});

it("do not exist where there are no tools", async () => {
  expect(await offered(await serve(undefined, { tools: false }), "modern", page)).toEqual([]);
  expect(await offered(await serve("server: { tools: false }\n"), "legacy", page)).toEqual([]);
});

it("lets only the owner save a set that the config does not allow", async () => {
  // With another name configured and no token, nobody is the owner.
  const server = await serve(undefined, { allowedHosts: ["press.example"] });
  expect(await offered(server, "modern", page)).toEqual(["count_tokens"]);
});

it.each(["modern", "legacy"] as const)("are used by our client in the %s era", async (era) => {
  const { url } = await serve();
  const remote = await connect(url, { era, clientOptions: { capabilities: { extensions: page } } });
  open.push(remote);
  const [resource] = (await remote.list({}, call)).items;
  const { structured } = await remote.useTool("count_tokens", { uris: [resource!.uri] }, call);
  expect(structured).toMatchObject({ counts: [{ uri: resource!.uri, tokens: expect.any(Number) as number }] });
});
