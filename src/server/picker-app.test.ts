import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpServer, startHttp } from "./start-http.ts";

const uri = "ui://pressmark/picker";
const type = "text/html;profile=mcp-app";
let root: string;
let open: { close(): Promise<void> }[];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-app-")));
  open = [];
});

afterEach(async () => {
  for (const each of open.toReversed()) await each.close();
  rmSync(root, { recursive: true, force: true });
});

async function serve(tools?: boolean): Promise<HttpServer> {
  const env = { XDG_STATE_HOME: join(root, ".state"), XDG_CACHE_HOME: join(root, ".cache"), HOME: root };
  const pickerApp = join(root, ".app.html");
  const err = { write: () => true };
  const options = { folders: [], from: root, env, err, allowedHosts: [], version: "1", port: 0, pickerApp };
  const server = await startHttp({ ...options, tools });
  open.push(server);
  return server;
}

async function visit({ url }: HttpServer, era: "modern" | "legacy", mimeTypes?: readonly string[]): Promise<Client> {
  const extensions = mimeTypes && { "io.modelcontextprotocol/ui": { mimeTypes: [...mimeTypes] } };
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { ...(extensions && { extensions }) },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  open.push(client);
  return client;
}

describe("pick_resources", () => {
  it.each(["modern", "legacy"] as const)(
    "is offered in the %s era to clients that show apps, and to no others",
    async (era) => {
      const server = await serve();
      const shows = await visit(server, era, [type]);
      const tool = (await shows.listTools()).tools.find(({ name }) => name === "pick_resources");
      expect(tool?._meta).toMatchObject({ ui: { resourceUri: uri } });
      expect((await shows.callTool({ name: "pick_resources", arguments: {} })).structuredContent).toMatchObject({
        mounts: [{ uri: expect.stringMatching(/^file:/) as string }],
        tools: [
          "search_resources",
          "list_resources",
          "read_resource",
          "gather_context",
          "count_tokens",
          "complete_template",
          "save_set",
          "delete_set",
        ],
      });
      for (const mimeTypes of [undefined, [], ["text/html"]]) {
        const shy = await visit(server, era, mimeTypes);
        expect((await shy.listTools()).tools.map(({ name }) => name)).not.toContain("pick_resources");
        await expect(shy.callTool({ name: "pick_resources", arguments: {} })).rejects.toThrow("no tool");
      }
    },
  );

  it("completes templates for the page, which only clients that show apps are offered", async () => {
    const server = await serve();
    const shows = await visit(server, "modern", [type]);
    const tool = (await shows.listTools()).tools.find(({ name }) => name === "complete_template");
    expect(tool?._meta).toEqual({ ui: { visibility: ["app"] } });
    writeFileSync(join(root, "plan.md"), "# Plan\n");
    const { resourceTemplates } = await shows.listResourceTemplates();
    const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.startsWith(`file://${root}`));
    const [, name] = /\{[+/]?(\w+)/.exec(template!.uriTemplate) ?? [];
    const args = { uri: template!.uriTemplate, name, value: "pl" };
    const result = await shows.callTool({ name: "complete_template", arguments: args });
    expect(result.structuredContent).toEqual({ values: ["plan.md"], hasMore: false });
    const wrong = await shows.callTool({ name: "complete_template", arguments: { ...args, value: 1 } });
    expect(wrong.isError).toBe(true);
    const shy = await visit(server, "modern");
    expect((await shy.listTools()).tools.map(({ name: each }) => each)).not.toContain("complete_template");
  });

  it("is not offered where there are no tools, or others were chosen", async () => {
    expect((await visit(await serve(false), "modern", [type])).getServerCapabilities()?.tools).toBeUndefined();
    writeFileSync(join(root, "pressmark.config.yaml"), "server: { tools: [read_resource] }\n");
    const few = await visit(await serve(), "modern", [type]);
    expect((await few.listTools()).tools.map(({ name }) => name)).toEqual(["read_resource"]);
  });
});

describe("ui://pressmark/picker", () => {
  it("is read as a page that loads nothing, as soon as it is built, and is not listed", async () => {
    const client = await visit(await serve(), "modern", [type]);
    await expect(client.readResource({ uri })).rejects.toThrow("the picker is not built");
    writeFileSync(join(root, ".app.html"), "<!doctype html><p>page</p>");
    expect((await client.readResource({ uri })).contents).toEqual([
      {
        uri,
        mimeType: type,
        text: "<!doctype html><p>page</p>",
        _meta: { ui: { csp: {}, permissions: { clipboardWrite: {} }, prefersBorder: true } },
      },
    ]);
    const { resources } = await client.listResources();
    expect(resources.filter((resource) => resource.uri.startsWith("ui:"))).toEqual([]);
    for (const other of [`${uri}?x=1`, "ui://pressmark/", "ui://pressmark/other", "ui://other/picker"])
      await expect(client.readResource({ uri: other }), other).rejects.toThrow("Resource not found");
  });
});
