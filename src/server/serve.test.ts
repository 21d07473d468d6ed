/** Programs serve their mounts with one call, and get what the command line gives. */
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { defineResources } from "../define/define-resources.ts";
import { tool } from "../define/tool.ts";
import { ResourceError } from "../errors.ts";
import { defineSource } from "../source.ts";
import { createMemory } from "../sources/memory.ts";
import { type App, createApp, type AppOptions } from "./create-app.ts";
import { serve } from "./serve.ts";

const call = () => ({ caller: { id: "test", owner: true }, signal: new AbortController().signal });

async function open(options: Partial<AppOptions> & Pick<AppOptions, "mounts">) {
  const app = await createApp({ name: "notes", ...options });
  onTestFinished(() => app.close());
  return app;
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-serve-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const uris = async ({ resources }: App) =>
  (await resources.list({}, call())).items.map(({ uri }) => uri).filter((uri) => !/^(?:pressmark|ui):/.test(uri));
const read = async ({ resources }: App, uri: string) => (await resources.read(uri, call())).contents[0]!.body;

describe("serve", () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await stop?.();
    stop = undefined;
  });

  async function connect(url: string): Promise<Client> {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    stop = () => client.close();
    return client;
  }

  it("serves a source to a client over HTTP: resources, tools, prompts and the page", async () => {
    const notes = createMemory({ "hello.txt": "Hello", "日本語.md": "# 予算" });
    const serving = await serve({ name: "notes", version: "2.1.0", port: 0, mounts: { notes: notes.source } });
    onTestFinished(() => serving.close());
    const client = await connect(serving.url);
    expect(client.getServerVersion()).toMatchObject({ name: "notes", version: "2.1.0" });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "notes://hello.txt",
      "notes://%E6%97%A5%E6%9C%AC%E8%AA%9E.md",
      ...resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("pressmark:") || uri.startsWith("ui:")),
    ]);
    expect((await client.readResource({ uri: "notes://hello.txt" })).contents).toMatchObject([{ text: "Hello" }]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("search_resources");
    const found = await client.callTool({ name: "search_resources", arguments: { query: "予算" } });
    expect(JSON.stringify(found)).toContain("notes://%E6%97%A5%E6%9C%AC%E8%AA%9E.md");
    expect((await fetch(new URL("/", serving.url))).headers.get("content-type")).toMatch(/^text\/html/);
  });

  it("serves the host that started the program", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const { source } = createMemory({ "a.txt": "A" });
    const serving = await serve({ name: "notes", transport: "stdio", input, output, mounts: { notes: source } });
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    };
    input.end(`${JSON.stringify(initialize)}\n`);
    await serving.closed;
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: 1, result: { serverInfo: { name: "notes" } } });
  });

  it("serves other machines only if the program tells who the callers are", async () => {
    const { source } = createMemory({ "a.txt": "A" });
    await expect(serve({ name: "notes", host: "0.0.0.0", port: 0, mounts: { notes: source } })).rejects.toThrow(
      'the address "0.0.0.0" can be reached from other machines: pass "identify"',
    );
  });

  it("asks the program who the caller is, and shows each what its policy allows", async () => {
    const { source } = createMemory({ "public.txt": "for all", "secret.txt": "for ann" });
    const serving = await serve({
      name: "notes",
      port: 0,
      mounts: { notes: source },
      identify: ({ headers }) => (headers.authorization === "Bearer ann" ? { id: "ann" } : undefined),
      policy: { maySee: (caller, _mount, { path }) => path !== "secret.txt" || caller.id === "bob" },
    });
    onTestFinished(() => serving.close());
    expect((await fetch(serving.url, { method: "POST", body: "{}" })).status).toBe(401);
    const client = new Client({ name: "test", version: "1" });
    const headers = { Authorization: "Bearer ann" };
    await client.connect(new StreamableHTTPClientTransport(new URL(serving.url), { requestInit: { headers } }));
    stop = () => client.close();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("notes:"))).toEqual(["notes://public.txt"]);
    await expect(client.readResource({ uri: "notes://secret.txt" })).rejects.toThrow();
  });

  it("says that its port is taken, and leaves nothing open", async () => {
    const { source } = createMemory({ "a.txt": "A" });
    const first = await serve({ name: "notes", port: 0, mounts: { notes: source } });
    onTestFinished(() => first.close());
    let closed = 0;
    const other = { ...createMemory().source, close: async () => void (closed += 1) };
    const port = Number(new URL(first.url).port);
    await expect(serve({ name: "notes", port, mounts: { notes: other } })).rejects.toThrow(String(port));
    expect(closed).toBe(1);
  });
});

describe("an app of a program", () => {
  it("mounts sources, definitions and built-in sources by name", async () => {
    const folder = temporary();
    writeFileSync(join(folder, "README.md"), "# Read me");
    const hours = defineSource({
      name: "hours",
      summary: "Hours",
      scheme: "hours",
      options: (zod) => zod.object({ count: zod.int() }),
      open: async ({ count }) =>
        createMemory(Object.fromEntries(Array.from({ length: count }, (_, hour) => [`${hour}.txt`, `${hour}`]))).source,
    });
    const app = await open({
      mounts: {
        notes: createMemory({ "a.txt": "A" }).source,
        mine: { source: createMemory({ "b.txt": "B" }).source, base: "letters://mine/", title: "Letters" },
        Große_Notizen: createMemory({ "c.txt": "C" }).source,
        https: createMemory({ "d.txt": "D" }).source,
        day: { source: hours, count: 2 },
        files: { source: "file", root: folder },
      },
    });
    const file = pathToFileURL(join(realpathSync(folder), "README.md")).href;
    expect(new Set(await uris(app))).toEqual(
      new Set([
        "notes://a.txt",
        "letters://mine/b.txt",
        "mount://Gro%C3%9Fe_Notizen/c.txt",
        "mount://https/d.txt",
        "hours://day/0.txt",
        "hours://day/1.txt",
        file,
      ]),
    );
    expect(await read(app, file)).toEqual({ text: "# Read me" });
  });

  it("names all problems of the mounts at once", async () => {
    const { source } = createMemory();
    const wrong = {
      "a b": source,
      fil: { source: "fil", root: "." },
      files: { source: "file", rot: "." },
      nothing: undefined,
    } as unknown as AppOptions["mounts"];
    await expect(createApp({ name: "notes", mounts: wrong })).rejects.toThrow(
      /mounts\["a b"\]: a mount's name(?:.|\n)*fil.*did you mean "file"(?:.|\n)*"?rot"?.*did you mean "root"(?:.|\n)*nothing: must be a source/,
    );
    await expect(createApp({ name: "notes", mounts: {} })).rejects.toThrow("mounts: is empty; pass mounts by name");
  });

  it("retries a failing backend and limits its time, unless the mount has layers of its own", async () => {
    let reads = 0;
    const flaky = {
      list: async () => ({ items: [{ path: "a.txt" }] }),
      async read() {
        reads += 1;
        if (reads === 1) throw new ResourceError("unavailable", "the backend is restarting");
        return [{ body: { text: "A" } }];
      },
    };
    const standard = await open({ mounts: { notes: flaky } });
    expect(await read(standard, "notes://a.txt")).toEqual({ text: "A" });
    expect(reads).toBe(2);
    reads = 0;
    const bare = await open({ mounts: { notes: { source: flaky, layers: () => [] } } });
    await expect(read(bare, "notes://a.txt")).rejects.toThrow("the backend is restarting");

    const stuck = { ...flaky, read: () => new Promise<never>(() => undefined) };
    const limited = await open({ mounts: { notes: stuck }, limits: { timeoutMs: 20 } });
    await expect(read(limited, "notes://a.txt")).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("keeps nothing of a program without a state folder, and cursors of one that has one", async () => {
    const folder = temporary();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { source } = createMemory({ "a.txt": "A", "b.txt": "B" });
    const unkept = await open({ mounts: { notes: source } });
    expect(readdirSync(folder)).toHaveLength(1);
    await unkept.close();
    expect(readdirSync(folder)).toEqual([]);

    const stateFolder = temporary();
    const first = await open({ mounts: { notes: source }, stateFolder, pageSize: 1 });
    const { next } = await first.resources.list({}, call());
    await first.close();
    const second = await open({ mounts: { notes: source }, stateFolder, pageSize: 1 });
    expect((await second.resources.list({ cursor: next! }, call())).items[0]?.uri).toBe("notes://b.txt");
  });

  it("accepts a secret that the program has read itself", async () => {
    const url = "postgres://127.0.0.1:1/none";
    await expect(open({ mounts: { db: { source: "postgres", url, password: "secret" } } })).resolves.toBeDefined();
  });

  it("refuses a cursor key of another length", async () => {
    const { source } = createMemory();
    await expect(createApp({ name: "n", mounts: { n: source }, cursorKey: new Uint8Array(8) })).rejects.toThrow(
      "the cursor key must have 32 bytes",
    );
  });

  it("shows overviews and tools only to callers who may see everything, whatever else a policy allows", async () => {
    const folder = temporary();
    const database = new DatabaseSync(join(folder, "shop.db"));
    database.exec("create table goods (name text); create table salaries (amount int)");
    database.close();
    const mounts = {
      shop: { source: "sqlite", path: join(folder, "shop.db") },
      notes: defineResources({
        texts: { "a.txt": "A", "secret.txt": "B" },
        tools: { wipe: tool({ description: "Wipes", input: (z) => z.object({}), run: () => "wiped" }) },
      }),
    } as const;
    const hidden = /salaries|secret/;
    const byPolicy = await open({ mounts, policy: { maySee: (_caller, _mount, { path }) => !hidden.test(path) } });
    const byRules = await open({
      mounts,
      rules: [
        { allow: ["caller:bob"], write: true },
        { deny: ["caller:bob"], mounts: ["shop"], paths: ["**/salaries"] },
        { deny: ["caller:bob"], mounts: ["notes"], paths: ["secret.txt"] },
      ],
    });
    const bob = { caller: { id: "bob" }, signal: new AbortController().signal };
    for (const { resources } of [byPolicy, byRules]) {
      expect((await resources.list({}, bob)).items.map(({ uri }) => uri).filter((uri) => hidden.test(uri))).toEqual([]);
      await expect(resources.read("sqlite://shop.db/overview", bob)).rejects.toMatchObject({ kind: "not-found" });
      expect(await resources.relayed?.tools(bob)).toEqual([]);
      expect((await resources.read("notes://a.txt", bob)).contents).toHaveLength(1);
    }
  });
});
