/** Actions of mounts through a whole server: as tools, over plain HTTP, and disabled. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { question, resultOf } from "../sources/analysis/test-results.ts";
import { startHttp, type HttpServerOptions } from "./start-http.ts";

const docs = join(import.meta.dirname, "../../docs");
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-actions-")));
  writeFileSync(join(root, "guide.md"), "first edition");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function serve(settings = "", more: Partial<HttpServerOptions> = {}) {
  const config = join(root, "pressmark.config.yaml");
  writeFileSync(
    config,
    `mounts:\n  files: { source: file, root: . }\n  wall: { source: analysis, path: kept/results.db, pollMs: 100 }\n${settings}`,
  );
  const env = { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: root };
  const server = await startHttp({
    folders: [],
    config,
    from: root,
    env,
    err: { write: () => true },
    allowedHosts: [],
    version: "1",
    port: 0,
    ...more,
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const post = async (path: string, body: unknown) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, server.url), init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const toolNames = async () => (await client.listTools()).tools.map(({ name }) => name);
  const use = async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args });
  return { client, post, toolNames, use };
}

it("what is stored over HTTP is found by a tool, read as a resource, and dropped when a file that it rests on changes", async () => {
  const { client, post, use, toolNames } = await serve();
  expect(await toolNames()).toEqual(expect.arrayContaining(["find_analysis", "store_analysis", "read_resource"]));
  const grounding = [{ uri: `file://${root}/guide.md` }];
  const asked = await use("find_analysis", { ...question, grounding });
  expect(asked.structuredContent).toMatchObject({ status: "compute" });
  const { lease } = asked.structuredContent as { lease: string };
  const stored = await post("/analysis", { lease, result: resultOf() });
  expect(stored).toMatchObject({ status: 200, body: { status: "stored" } });
  const [uri] = stored.body["uris"] as string[];

  const found = await use("find_analysis", { ...question, grounding });
  expect(found.structuredContent).toMatchObject({ status: "hit", uris: [uri], result: resultOf() });
  expect(found.content).toContainEqual(expect.objectContaining({ type: "resource_link", uri }));
  expect(await post("/actions/wall/find_analysis", { ...question, grounding })).toMatchObject({
    status: 200,
    body: { status: "hit", uris: [uri] },
  });
  const read = await client.readResource({ uri: uri! });
  expect(read.contents[0]).toMatchObject({ uri, mimeType: "application/json" });

  const gone = Promise.withResolvers<unknown>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    // The change may be reported late.
    if (params.uri === uri) client.readResource({ uri: params.uri }).catch(gone.resolve);
  });
  await client.subscribeResource({ uri: uri! });
  writeFileSync(join(root, "guide.md"), "second edition");
  expect(String(await gone.promise)).toMatch(/not found/i);
});

it("the example in the documentation is stored, as a tool and over HTTP", async () => {
  const { post, use, client } = await serve();
  const page = readFileSync(join(docs, "sources/analysis.md"), "utf8");
  const example = /```json\n(\{[^`]*"llm_votes"[^`]*)```/u.exec(page)![1]!;
  const whole = JSON.parse(example) as Record<string, unknown>;
  const published = JSON.parse(readFileSync(join(docs, "analysis.schema.json"), "utf8")) as { $defs: object };
  const { tools } = await client.listTools();
  // `npm run docs` writes the file.
  expect(published.$defs).toEqual(
    Object.fromEntries(
      tools.flatMap(({ name, inputSchema }) => (name.endsWith("_analysis") ? [[name, inputSchema]] : [])),
    ),
  );
  const validate = new Ajv2020({ strict: false }).compile({ ...published, $ref: "#/$defs/store_analysis" });
  expect([validate(whole), validate.errors]).toEqual([true, null]);
  const stored = await use("store_analysis", whole);
  expect(stored.structuredContent).toMatchObject({ status: "stored", quality: { passed: true } });
  expect(await post("/analysis", whole)).toMatchObject({ status: 200, body: { status: "stored" } });
  const { result, ...asked } = whole;
  expect((await use("find_analysis", asked)).structuredContent).toMatchObject({
    status: "hit",
    result,
  });
});

it("all problems are reported at once, as a tool and over HTTP", async () => {
  const { post, use } = await serve();
  const { total_cost: _, debug: _debug, ...rest } = resultOf();
  const wrong = {
    options: { depth: 9, taskType: "basic" },
    result: { ...rest, processing_time_ms: "long" },
    failed: "no",
  };
  const fields = {
    taskType: 'is missing; send "lease", or "prompt" and "taskType"',
    prompt: 'is missing; send "lease", or "prompt" and "taskType"',
    "options.depth": "must be at most 5",
    "options.taskType": 'must be beside "options", not inside',
    "result.total_cost": "is missing; it must be a number",
    "result.debug": "is missing; it must be an object",
    "result.processing_time_ms": "must be a number",
    result: 'send exactly one of "result" and "failed"',
    lease: 'is missing; "failed" reports a failed computation, and needs its lease',
  };
  expect(await post("/analysis", wrong)).toMatchObject({ status: 400, body: { error: { details: { fields } } } });
  const [said] = (await use("store_analysis", wrong)).content;
  for (const [field, why] of Object.entries(fields))
    expect(said).toMatchObject({ text: expect.stringContaining(`"${field}" ${why}`) as string });
});

it("errors name the field, as a tool and over HTTP", async () => {
  const { post, use } = await serve();
  const wrong = { ...question, taskType: "premum" };
  const answer = await use("find_analysis", wrong);
  expect(answer).toMatchObject({ isError: true });
  expect(JSON.stringify(answer.content)).toContain("taskType");
  expect(await post("/actions/wall/find_analysis", wrong)).toMatchObject({
    status: 400,
    body: { error: { kind: "invalid", details: { fields: { taskType: expect.stringContaining("premium") } } } },
  });
});

it.each([
  ["--no-tools", "", { tools: false }],
  ["server.tools: false", "server: { tools: false }\n", {}],
  ["a list that does not name them", "server: { tools: [read_resource] }\n", {}],
] as const)("with %s nothing can be done, through no door", async (_how, settings, more) => {
  const { client, post, toolNames } = await serve(settings, more);
  const names = client.getServerCapabilities()?.tools ? await toolNames() : [];
  expect(names.filter((name) => name.includes("analysis"))).toEqual([]);
  for (const path of ["/analysis", "/actions/wall/store_analysis", "/actions/wall/find_analysis"])
    expect((await post(path, { ...question, result: resultOf() })).status).toBe(404);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain("analysis://statistics");
});

it("a list may name them", async () => {
  const { toolNames } = await serve("server: { tools: [actions] }\n");
  expect(await toolNames()).toEqual(["find_analysis", "store_analysis"]);
});
