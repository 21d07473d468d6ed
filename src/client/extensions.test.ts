import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openPolicy, type Policy } from "../access/policy.ts";
import { withStandardLayers } from "../layers/standard.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import type { Call, Freshness, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import type { Source } from "../source.ts";
import mcp from "../sources/mcp.ts";
import { createMemory } from "../sources/memory.ts";
import { listen } from "../transport/listen.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { connect, type ConnectOptions, type RemoteServer } from "./connect.ts";

const runtime = createRuntime({ write: () => true });
const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const long = "a line of text\n".repeat(10_000);

/** Serves one mount "m" over HTTP. `sent` is the number of bytes that were sent since its last call. */
async function serve(source: Source, policy: Policy = openPolicy, freshness?: Freshness) {
  const layered = withStandardLayers(source, { name: "m" }, runtime);
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source: layered, freshness }],
    policy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const protocol = createProtocol({ resources, server: { name: "t", version: "1" } });
  const { url, server, close } = await listen(protocol, { port: 0, graceMs: 0 });
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket));
  onTestFinished(async () => {
    server.closeAllConnections();
    await close();
    await resources.close();
  });
  let before = 0;
  return {
    url,
    sent() {
      const total = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
      const since = total - before;
      before = total;
      return since;
    },
  };
}

async function open(url: string, options: ConnectOptions = {}): Promise<RemoteServer> {
  const server = await connect(url, options);
  onTestFinished(() => server.close());
  return server;
}

async function textOf(resources: Pick<Resources, "read">, uri: string): Promise<string> {
  const { body } = (await resources.read(uri, call)).contents[0]!;
  return "text" in body ? body.text : "";
}

it("a content that did not change is not sent again, and one that did is", async () => {
  const memory = createMemory({ a: long });
  const { url, sent } = await serve(memory.source);
  const server = await open(url);
  const first = await server.read("m://a", call);
  expect(sent()).toBeGreaterThan(long.length);
  for (let times = 0; times < 3; times += 1) {
    const again = await server.read("m://a", call);
    // The same object, so that whatever was derived from it can be used again.
    expect(again.contents[0]!.body).toBe(first.contents[0]!.body);
    expect(sent()).toBeLessThan(1000);
  }
  memory.set("a", `${long}more\n`);
  expect(await textOf(server, "m://a")).toBe(`${long}more\n`);
  expect(sent()).toBeGreaterThan(long.length);
  memory.set("a", long);
  expect(await textOf(server, "m://a")).toBe(long);
});

it("while the version is equal, the server does not even read the content", async () => {
  const { source } = createMemory({ a: long });
  let reads = 0;
  const counted: Source = {
    ...source,
    read(at, each) {
      reads += 1;
      return source.read(at, each);
    },
  };
  const server = await open((await serve(counted)).url);
  // The first read remembers the address, the second stores the content with its version.
  for (let times = 0; times < 5; times += 1) await server.read("m://a", call);
  expect(reads).toBe(2);
});

it("a content is asked about when its time is over, not before", async () => {
  let nowMs = 0;
  const cache = createAnswerCache({ now: () => nowMs });
  const { source } = createMemory({ a: long });
  const { url, sent } = await serve(source, openPolicy, { ttlMs: 1000, scope: "private" });
  const server = await open(url, { cache });
  await server.read("m://a", call);
  sent();
  nowMs = 999;
  await server.read("m://a", call);
  expect(sent()).toBe(0);
  nowMs = 1001;
  expect(await server.read("m://a", call)).toMatchObject({ ttlMs: 1000 });
  expect(sent()).toBeGreaterThan(0);
  nowMs = 1500;
  await server.read("m://a", call);
  expect(sent()).toBeLessThan(1000);
});

it("a caller who lost access does not get the cached content", async () => {
  let isHidden = false;
  const { source } = createMemory({ a: long });
  const { url } = await serve(source, { maySee: () => !isHidden });
  const server = await open(url);
  await server.read("m://a", call);
  isHidden = true;
  await expect(server.read("m://a", call)).rejects.toMatchObject({ kind: "not-found" });
  isHidden = false;
  expect(await textOf(server, "m://a")).toBe(long);
});

it("older revisions send everything, as ever", async () => {
  const { source } = createMemory({ a: long });
  const { url, sent } = await serve(source);
  const server = await open(url, { era: "legacy" });
  await server.read("m://a", call);
  sent();
  expect(await textOf(server, "m://a")).toBe(long);
  expect(sent()).toBeGreaterThan(long.length);
});

it("a server between two others passes on what did not change without its content", async () => {
  const memory = createMemory({ a: long });
  const far = await serve(memory.source);
  const gateway = await mcp.open(mcp.options(z).parse({ url: far.url }), runtime);
  onTestFinished(async () => gateway.close?.());
  const near = await serve(gateway);
  const server = await open(near.url);
  const uri = (await server.list({}, call)).items[0]!.uri;
  expect(await textOf(server, uri)).toBe(long);
  // The second read also asks the other server for the version of the entry.
  expect(await textOf(server, uri)).toBe(long);
  for (const { sent } of [near, far]) sent();
  expect(await textOf(server, uri)).toBe(long);
  for (const { sent } of [near, far]) expect(sent()).toBeLessThan(1000);
  memory.set("a", "short");
  expect(await textOf(server, uri)).toBe("short");
});

describe("a filtered list", () => {
  const files = Object.fromEntries(
    Array.from({ length: 900 }, (_, at) => [`file-${at}.${at % 300 ? "txt" : "md"}`, "x"]),
  );
  const filter = { namePatterns: ["*.md"] };
  const markdown = ["m://file-0.md", "m://file-300.md", "m://file-600.md"];

  it("is filtered by a server that declares it", async () => {
    const { url, sent } = await serve(createMemory(files).source);
    const server = await open(url);
    await server.templates({}, call);
    sent();
    const { items, next } = await server.list({ filter }, call);
    expect([items.map(({ uri }) => uri), next]).toEqual([markdown, undefined]);
    expect(sent()).toBeLessThan(2000);
    expect((await server.templates({ filter }, call)).items).toEqual([]);
    // The same request without a filter is another one.
    expect((await server.list({}, call)).items).toHaveLength(900);
  });

  it("is filtered by the client if the server cannot", async () => {
    const { url, sent } = await serve(createMemory(files).source);
    const server = await open(url, { era: "legacy" });
    sent();
    expect((await server.list({ filter }, call)).items.map(({ uri }) => uri)).toEqual(markdown);
    expect(sent()).toBeGreaterThan(10_000);
  });
});
