/** What a client asks of a server's tools, and what it hears of what goes while it is asked to watch more. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { openScripted } from "./scripted-server.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
let scratch: string;
let server: HttpServer;
let silent: HttpServer;
let pressmark: RemoteServer;

beforeAll(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-tool-use-")));
  const shelf = join(scratch, "shelf");
  mkdirSync(shelf);
  writeFileSync(join(shelf, "retry.md"), "# Retry\n\nThe retry policy.\n");
  writeFileSync(join(shelf, "passing.md"), "one\n");
  const env = { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch };
  const options = { folders: [shelf], from: shelf, port: 0, env, allowedHosts: [], version: "1" };
  server = await startHttp({ ...options, err: { write: () => true } });
  silent = await startHttp({ ...options, err: { write: () => true }, tools: false });
  pressmark = await connect(server.url);
});
afterAll(async () => {
  await pressmark?.close();
  await server?.close();
  await silent?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const find = async (typing: boolean) => (await pressmark.search({ text: "pol", limit: 5, typing }, call)).hits;
const uriOf = (name: string) => pathToFileURL(join(scratch, "shelf", name)).href;

describe("a server's tools", () => {
  it("are named, and answer with texts, links and what is structured", async () => {
    expect(await pressmark.tools(call)).toEqual(expect.arrayContaining(["search_resources", "gather_context"]));
    const said = await pressmark.useTool("gather_context", { task: "Look at it", include: [uriOf("retry.md")] }, call);
    expect(said.texts.join("\n")).toContain("The retry policy.");
    expect(said.links).toContainEqual(expect.objectContaining({ uri: uriOf("retry.md"), name: "retry.md" }));
    expect(said.structured).toMatchObject({ included: [{ uri: uriOf("retry.md") }] });
  });

  it("that are missing are unsupported, and what is wrong is said in their words", async () => {
    await expect(pressmark.useTool("no_such_tool", {}, call)).rejects.toMatchObject({ kind: "unsupported" });
    await expect(pressmark.useTool("gather_context", { task: "" }, call)).rejects.toMatchObject({
      kind: "invalid",
      message: '"task" is empty',
    });
    const other = await connect(silent.url);
    expect(await other.tools(call)).toEqual([]);
    await expect(other.useTool("gather_context", { task: "x" }, call)).rejects.toMatchObject({ kind: "unsupported" });
    await other.close();
  });

  it("are not called for a search or a list if the server does not name them", async () => {
    const tools = [{ name: "open_browser", inputSchema: { type: "object" } }];
    await using other = await openScripted(
      {
        "resources/list": () => ({ result: { resources: [{ uri: "note://shelf/tea", name: "tea" }] } }),
        "tools/list": () => ({ result: { tools } }),
        "tools/call": () => ({ result: { content: [{ type: "text", text: "cannot open a browser" }], isError: true } }),
      },
      { resources: {}, tools: {} },
    );
    const remote = await connect(other.url, { era: "legacy" });
    await expect(remote.search({ text: "tea", limit: 1 }, call)).rejects.toMatchObject({ kind: "unsupported" });
    expect((await remote.children("note://shelf", {}, call)).items).toMatchObject([{ uri: "note://shelf/tea" }]);
    expect(other.asked).not.toContain("tools/call");
    await remote.close();
  });

  it("are not requested for a search if the server declares no resources", async () => {
    await using other = await openScripted({}, { tools: {} });
    const remote = await connect(other.url, { era: "legacy" });
    for (const request of [remote.search({ text: "tea", limit: 1 }, call), remote.list({}, call)])
      await expect(request).rejects.toMatchObject({ kind: "unsupported", message: "the server serves no resources" });
    expect(other.asked).toEqual(["initialize", "notifications/initialized"]);
    await remote.close();
  });

  it("say which results match, and no other value counts as that", async () => {
    const results = [true, false, undefined, "false", 0].map((isMatch) => ({ uri: "note://a", name: "a", isMatch }));
    await using other = await openScripted(
      {
        "tools/list": () => ({ result: { tools: [{ name: "search_resources", inputSchema: { type: "object" } }] } }),
        "tools/call": () => ({ result: { content: [], structuredContent: { ready: 1, results } } }),
      },
      { resources: {}, tools: {} },
    );
    const remote = await connect(other.url, { era: "legacy" });
    const { hits } = await remote.search({ text: "tea", limit: 5 }, call);
    expect(hits.map(({ isMatch }) => isMatch)).toEqual([true, false, undefined, undefined, undefined]);
    await remote.close();
  });

  it("find an unfinished word where it is said to be one, and tell all that is known of what they find", async () => {
    await vi.waitFor(async () => expect(await find(true)).toHaveLength(1), { timeout: 15_000 });
    const [hit] = await find(true);
    expect(await find(false)).toEqual([]);
    expect(hit?.resource).toMatchObject({ size: 27, annotations: { lastModified: expect.any(String) } });
  });
});

describe("a watch", () => {
  it("hears that something went, also where more was asked for before it could be said", async () => {
    const stop = new AbortController();
    const watching = { ...call, signal: stop.signal };
    const uri = uriOf("passing.md");
    const { heard, until } = collectChanges(await pressmark.watch({ uris: [uri] }, watching));
    writeFileSync(join(scratch, "shelf", "passing.md"), "two\n");
    await until(({ kind }) => kind === "updated", "that it changed");
    const before = heard.length;
    // What changes twice within a second is told of again only after it.
    rmSync(join(scratch, "shelf", "passing.md"));
    await pressmark.watch({ uris: [uriOf("retry.md")] }, watching);
    await until(() => heard.length > before, "that it is gone");
    await expect(pressmark.read(uri, call)).rejects.toMatchObject({ kind: "not-found" });
    stop.abort();
  });
});
