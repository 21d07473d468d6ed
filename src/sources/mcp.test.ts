import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openPolicy, type Policy } from "../access/policy.ts";
import { ResourceError, retryAfterOf } from "../errors.ts";
import { wait } from "../lib/wait.ts";
import { type StandardOptions, withStandardLayers } from "../layers/standard.ts";
import { deadlinesByHand } from "../layers/test-deadlines.ts";
import { createProtocol } from "../protocol/create-protocol.ts";
import { createReadingTools } from "../protocol/tools/reading-tools.ts";
import type { Call } from "../resources.ts";
import { createResources, type LocalResources } from "../router/create-resources.ts";
import type { Mount } from "../router/route.ts";
import { createKeySource } from "../router/test-key-source.ts";
import { createRuntime } from "../server/runtime.ts";
import { type Entry, pathOf, type Source, type Runtime } from "../source.ts";
import { collect } from "../testing/pages.ts";
import { collectChanges as hear } from "../testing/listen.ts";
import { refusal } from "../testing/refusal.ts";
import { resourcesContract } from "../testing/resources-contract.ts";
import { sourceContract } from "../testing/source-contract.ts";
import { listen, type Listening } from "../transport/listen.ts";
import mcp, { type McpOptions } from "./mcp.ts";
import { createMemory, type Memory, type MemoryTemplate } from "./memory.ts";

const base = "memory://up/";
const here = (path: string) => `mcp://far/memory:%2F%2Fup/${path}`;
/** encodeURI keeps characters that are allowed in a path, and also "#" and "?". */
const format = (path: string) => encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F");
const log: string[] = [];
const runtime: Runtime = {
  ...createRuntime({ write: () => true }),
  log: (level, message) => void log.push(`${level}: ${message}`),
};

interface Far {
  readonly memory: Memory;
  readonly url: string;
  stop(): Promise<void>;
}

/** A second server behind the real protocol layer and transport. */
async function openFar(
  content: Readonly<Record<string, string>>,
  {
    templates = [],
    pageSize = 3,
    port = 0,
    wrap = (source) => source,
  }: {
    templates?: readonly MemoryTemplate[];
    pageSize?: number;
    port?: number;
    wrap?: (source: Source) => Source;
  } = {},
): Promise<Far> {
  const memory = createMemory(content, { templates });
  const mount = { name: "up", base, source: wrap(memory.source) };
  const pressmark = createResources({
    mounts: [mount],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
    pageSize,
  });
  const reading = createReadingTools({ resources: pressmark, server: "up", mounts: () => [mount] });
  const edge = createProtocol({
    resources: pressmark,
    server: { name: "upstream", version: "1" },
    instructions: "Read the far things.",
    tools: reading,
  });
  const listening: Listening = await listen(edge, { port, graceMs: 0 });
  return {
    memory,
    url: listening.url,
    async stop() {
      listening.server.closeAllConnections();
      await listening.close();
      await pressmark.close();
    },
  };
}

/** Keys at another server, through this one. */
async function openKeys(era: string, policy = openPolicy) {
  const store = createKeySource(["user:1", "user:1:friends", "user:2", "group:a"]);
  const far = await openFar({}, { wrap: () => store.source });
  const gateway = await openGateway({ url: far.url, era }, policy);
  onTestFinished(async () => {
    await gateway.close();
    await far.stop();
  });
  return { gateway, store };
}

/** The entries "1" and "2" get the URIs "report?id=1" and "report?id=2". */
function withQueries(source: Source): Source {
  return {
    ...source,
    async list(request, call) {
      const page = await source.list(request, call);
      return { ...page, items: page.items.map(toReport) };
    },
  };
}

function toReport(entry: Entry): Entry {
  return /^\d$/.test(entry.path) ? { ...entry, path: "report", query: { id: entry.path } } : entry;
}

function toOptions(options: Record<string, unknown>): McpOptions {
  return mcp.options(z).parse(options);
}

async function openGateway(
  options: Record<string, unknown>,
  policy = openPolicy,
  more: readonly Mount[] = [],
  layers: StandardOptions = {},
): Promise<LocalResources> {
  const mount = { name: "far", base: "mcp://far/" };
  const source = withStandardLayers(await mcp.open(toOptions(options), runtime), mount, runtime, layers);
  return createResources({
    mounts: [{ ...mount, source }, ...more],
    policy,
    runtime,
    cursorKey: new Uint8Array(32),
    pageSize: 5,
  });
}

for (const era of ["modern", "legacy"] as const) {
  let far: Far;
  let pressmark: LocalResources;
  resourcesContract(`a gateway to another server, ${era},`, {
    async open(content) {
      far = await openFar(content as Record<string, string>, { templates: [greeting] });
      pressmark = await openGateway({ url: far.url, era });
      return pressmark;
    },
    uriOf: (path) => here(format(path)).replace(/\/$/, ""),
    write: (path, text) => far.memory.set(path, text),
    remove: (path) => void far.memory.delete(path),
    async clear() {
      await pressmark.close();
      await far.stop();
    },
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
    completion: { template: here("greet/{planet}"), variable: "planet", value: "m", expected: "mars" },
  });
}

/** The path of the other server's resources in the source. */
const inside = `${pathOf(["memory://up"])}/`;

for (const era of ["modern", "legacy"] as const) {
  let far: Far;
  sourceContract(`mcp, ${era},`, {
    abilities: ["stat", "children", "templates", "complete", "search", "skills", "watch"],
    pathOf: (path) => inside + path,
    async open(content) {
      far = await openFar(content as Record<string, string>, { templates: [greeting] });
      return mcp.open(toOptions({ url: far.url, era }), runtime);
    },
    write: (path, text) => far.memory.set(path, text),
    remove: (path) => void far.memory.delete(path),
    rename(from, to) {
      far.memory.delete(from);
      far.memory.set(to, "renamed");
    },
    clear: () => far.stop(),
    expansions: [{ at: { path: `${inside}greet/mars` }, text: "hello mars" }],
    completions: [{ template: "memory:%2F%2Fup/greet/{planet}", variable: "planet", value: "m", expected: "mars" }],
  });
}

const greeting: MemoryTemplate = {
  template: "greet/{planet}",
  name: "greeting",
  read({ planet = "" }) {
    if (planet !== "jupiter") return [{ body: { text: `hello ${planet}` } }];
    const details = { reason: "too-large", size: 9, template: "greet/{planet}", ranges: ["lines=1-2"] };
    throw new ResourceError("too-large", "it is too large", { details });
  },
  complete: (variable, value) =>
    variable === "planet" ? ["mars", "mercury", "secret"].filter((each) => each.startsWith(value)) : [],
};

/** The streets of a town that was chosen before. */
const streets: MemoryTemplate = {
  template: "towns/{town}/{street}{?side}",
  name: "street",
  read: ({ town = "", street = "", side = "both" }) => [{ body: { text: `${town}, ${street}, ${side}` } }],
  complete: (variable, _value, { town }) =>
    variable === "town" ? ["here", "there"] : town === undefined ? [] : [`${town} street`, `${town} road`],
};

const content = { a: "alpha", b: "beta", "docs/c": "gamma", "docs/d": "delta", "secrets/key": "hidden" };

function withFaultAtB(source: Source): Source {
  return {
    ...source,
    async stat(at, call) {
      if (at.path === "b") throw new Error("a fault of the other server");
      return source.stat!(at, call);
    },
  };
}

function caller(id = "reader"): Call {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { caller: { id }, signal: stop.signal };
}

interface GatewayOptions {
  policy?: Policy;
  era?: string;
  more?: readonly Mount[];
  /** Wraps the other server's source. */
  wrap?: (source: Source) => Source;
}

async function open({ wrap, ...options }: GatewayOptions = {}) {
  const far = await openFar(content, { templates: [greeting, streets], ...(wrap && { wrap }) });
  const pressmark = await openGateway({ url: far.url, era: options.era ?? "auto" }, options.policy, options.more);
  onTestFinished(async () => {
    await pressmark.close();
    await far.stop();
  });
  return { far, pressmark };
}

async function textAt(pressmark: LocalResources, uri: string, call: Call): Promise<unknown> {
  return (await pressmark.read(uri, call)).contents[0]?.body;
}

describe("a gateway", () => {
  it("returns every page of the other server, with its own cursors", async () => {
    const { pressmark } = await open();
    const call = caller();
    const uris = (await collect((cursor) => pressmark.list(cursor === undefined ? {} : { cursor }, call))).map(
      ({ uri }) => uri,
    );
    expect(uris).toEqual(["a", "b", "docs/c", "docs/d", "secrets/key"].map(here));
    for (const uri of uris) await pressmark.read(uri, call);
  });

  it("returns templates whose expansions can be read", async () => {
    const { pressmark } = await open();
    const call = caller();
    const templates = (await pressmark.templates({}, call)).items.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toEqual([here("greet/{planet}"), here("towns/{town}/{street}{?side}")]);
    expect(await textAt(pressmark, here("greet/mars"), call)).toEqual({ text: "hello mars" });
    const street = `${here("towns/far%20off/%E6%97%A5%2F1")}?side=left`;
    expect(await textAt(pressmark, street, call)).toEqual({ text: "far off, 日/1, left" });
  });

  it("completes values that depend on earlier choices", async () => {
    const { pressmark } = await open();
    const ask = {
      template: here("towns/{town}/{street}{?side}"),
      variable: "street",
      value: "",
      given: { town: "here" },
    };
    expect((await pressmark.complete(ask, caller())).values).toEqual(["here street", "here road"]);
  });

  it.each(["modern", "legacy"])("relays updates under its own URIs, and no others (%s)", async (era) => {
    const { pressmark, far } = await open({ era });
    const call = caller();
    const { heard, until } = hear(await pressmark.watch({ uris: [here("a"), here("docs")], list: true }, call));
    far.memory.set("a", "other");
    await until((change) => change.kind === "updated" && change.uri === here("a"), "that a changed");
    far.memory.set("docs/e", "new");
    await until(({ kind }) => kind === "list-changed", "that the list changed");
    await until((change) => change.kind === "updated" && change.uri === here("docs"), "that docs has a new child");
    const uris = new Set(heard.flatMap((change) => (change.kind === "updated" ? [change.uri] : [])));
    expect([...uris].sort()).toEqual([here("a"), here("docs")]);
  });

  it("announces that the list changed when a URI with a query is new or gone", async () => {
    const far = await openFar({ a: "A" }, { wrap: withQueries });
    const pressmark = await openGateway({ url: far.url });
    onTestFinished(async () => {
      await pressmark.close();
      await far.stop();
    });
    for (const step of [
      () => far.memory.set("1", "new"),
      () => far.memory.set("2", "new"),
      () => far.memory.delete("1"),
      () => far.memory.delete("2"),
    ]) {
      const stop = new AbortController();
      const { until } = hear(await pressmark.watch({ list: true }, { ...caller(), signal: stop.signal }));
      step();
      await until(({ kind }) => kind === "list-changed", `that the list changed after ${String(step)}`);
      stop.abort();
    }
  });

  it.each(["modern", "legacy"])("relays updates of the rest if one resource cannot be watched (%s)", async (era) => {
    const far = await openFar(content, { wrap: withFaultAtB });
    const pressmark = await openGateway({ url: far.url, era });
    onTestFinished(async () => {
      await pressmark.close();
      await far.stop();
    });
    const uris = ["a", "b", "docs/c", "docs/d"].map(here);
    const { until } = hear(await pressmark.watch({ uris }, caller()));
    for (const [index, uri] of uris.entries()) {
      if (uri === here("b")) continue;
      far.memory.set(["a", "b", "docs/c", "docs/d"][index]!, "another");
      await until((change) => change.kind === "updated" && change.uri === uri, `that ${uri} changed`);
    }
  });

  it("knows whether the other server lists a watched resource", async () => {
    const far = await openFar(content, { templates: [greeting] });
    const source = await mcp.open(toOptions({ url: far.url }), runtime);
    onTestFinished(async () => {
      await source.close?.();
      await far.stop();
    });
    const call = caller();
    const { items } = await source.list({ limit: 100 }, call);
    const { path: listed } = items.find(({ path }) => path.endsWith("/a"))!;
    const unlisted = `${listed.slice(0, -2)}/greet/mars`;
    await source.follow!({ path: unlisted }, call);
    const { until } = hear(await source.watch!(call));
    expect([listed, unlisted].map((path) => source.lists!({ path }))).toEqual([true, false]);
    far.memory.set("new", "new");
    await until((change) => change.kind === "appeared" && change.path.endsWith("/new"), "that it is there");
    expect(source.lists!({ path: `${listed.slice(0, -2)}/new` })).toBe(true);
  });

  it("finds nothing within what the other server does not have, and does not call that a failure", async () => {
    const far = await openFar(content);
    const source = await mcp.open(toOptions({ url: far.url }), runtime);
    onTestFinished(async () => {
      await source.close?.();
      await far.stop();
    });
    const { items } = await source.list({ limit: 100 }, caller());
    const nowhere = `${items.find(({ path }) => path.endsWith("/a"))!.path.slice(0, -2)}/nowhere`;
    expect(await source.search!({ text: "alpha", limit: 10, within: nowhere }, caller())).toEqual({
      hits: [],
      ready: 1,
    });
  });

  it("reports how much of the other server was searched, and why not all", async () => {
    const found = { hits: [], ready: 0.5, failure: "the disk at 10.1.2.3 is slow" };
    const { pressmark } = await open({ wrap: (source) => ({ ...source, search: async () => found }) });
    const { ready, failures } = await pressmark.search({ text: "alpha", limit: 10 }, caller());
    expect(ready).toBe(0.5);
    expect(failures).toMatchObject([{ message: expect.stringContaining("is slow") as string }]);
    expect(JSON.stringify(failures)).not.toContain("10.1.2.3");
  });

  it("passes on which results of the other server are only similar", async () => {
    const hit = { entry: { path: "a", name: "a" }, score: 1, isMatch: false };
    const { pressmark } = await open({ wrap: (source) => ({ ...source, search: async () => [hit] }) });
    const { hits } = await pressmark.search({ text: "alpha nowhere", limit: 10 }, caller());
    expect(hits).toMatchObject([{ resource: { uri: here("a") }, isMatch: false }]);
  });

  it("hides what the policy of this server hides, in every method", async () => {
    const policy: Policy = {
      maySee: ({ id }, _mount, { path }) => id === "owner" || !/\/(?:secrets|greet\/secret)(?:\/|$)/.test(`/${path}`),
    };
    const { pressmark, far } = await open({ policy });
    const [reader, owner] = [caller(), caller("owner")];
    const listOf = async (call: Call) =>
      (await collect((cursor) => pressmark.list(cursor === undefined ? {} : { cursor }, call))).map(({ uri }) => uri);
    expect(await listOf(owner)).toContain(here("secrets/key"));
    expect(await listOf(reader)).not.toContain(here("secrets/key"));
    for (const uri of [here("secrets/key"), here("%73ecrets/key"), here("secrets")]) {
      await refusal(pressmark.read(uri, reader), ["not-found"], uri);
      await refusal(pressmark.stat(uri, reader), ["not-found"], uri);
      await refusal(pressmark.children(uri, {}, reader), ["not-found"], uri);
      expect((await pressmark.watch({ uris: [uri] }, reader)).uris, uri).toEqual([]);
    }
    const top = here("").replace(/\/$/, "");
    expect(JSON.stringify(await textAt(pressmark, top, owner))).toContain("secrets");
    expect(JSON.stringify(await textAt(pressmark, top, reader))).not.toContain("secrets");
    expect((await pressmark.search({ text: "hidden", limit: 10 }, owner)).hits).toHaveLength(1);
    expect((await pressmark.search({ text: "hidden", limit: 10 }, reader)).hits).toHaveLength(0);
    const ask = { template: here("greet/{planet}"), variable: "planet", value: "s", given: {} };
    expect((await pressmark.complete(ask, owner)).values).toEqual(["secret"]);
    expect((await pressmark.complete(ask, reader)).values).toEqual([]);
    const { heard, until } = hear(await pressmark.watch({ uris: [here("a"), here("docs")], list: true }, reader));
    far.memory.set("secrets/other", "");
    far.memory.set("docs/secrets/other", "");
    far.memory.set("a", "seen");
    await until(({ kind }) => kind === "updated", "that a changed");
    expect(heard).toEqual([{ kind: "updated", uri: here("a") }]);
  });

  it("returns the identity and the instructions of the other server", async () => {
    const { pressmark } = await open();
    expect(await pressmark.stat("mcp://far", caller())).toMatchObject({
      title: "upstream",
      description: "Read the far things.",
      mimeType: "inode/directory",
    });
    const { items } = await pressmark.children("mcp://far", {}, caller());
    expect(items.map(({ uri }) => uri)).toEqual(["mcp://far/memory:%2F%2Fup"]);
  });

  it("names alternatives to a large resource by its own URIs", async () => {
    const { pressmark } = await open();
    const call = caller();
    await pressmark.templates({}, call);
    const { details } = await refusal(pressmark.read(here("greet/jupiter"), call), ["too-large"], "jupiter");
    expect(details).toEqual({
      reason: "too-large",
      size: 9,
      template: here("greet/{planet}"),
      ranges: [`${here("greet/jupiter")}?lines=1-2`],
    });
  });
});

describe.each(["modern", "legacy"])("keys at another server (%s)", (era) => {
  const top = "mcp://far/memory:%2F%2Fup";

  it("are listed without order, and those with keys below them are resources that can be opened", async () => {
    const { gateway } = await openKeys(era);
    const all = await collect((cursor) => gateway.list({ cursor }, caller()));
    expect(all.map(({ uri }) => uri.slice(top.length)).sort()).toEqual([
      "/group/a",
      "/user/1",
      "/user/1/friends",
      "/user/2",
    ]);
    const below = await gateway.children(`${top}/user`, {}, caller());
    const flags = below.items.map(({ name, mimeType, meta }) => [name, mimeType, meta?.["pressmark/hasChildren"]]);
    expect(flags.sort()).toEqual([
      ["1", "text/plain", true],
      ["2", "text/plain", undefined],
    ]);
    expect((await gateway.children(`${top}/user/1`, {}, caller())).items.map(({ name }) => name)).toEqual(["friends"]);
    expect(await textAt(gateway, `${top}/user/1`, caller())).toEqual({ text: "value of user:1" });
    await refusal(gateway.children("mcp://far?x=1", {}, caller()), ["not-found"], "an unknown query");
  });

  it("do not tell of what this server hides", async () => {
    const policy: Policy = {
      maySee: (_, __, { path }) => !path.endsWith("/friends"),
      maySeeAll: (_, __, { path }) => path.endsWith("/2"),
    };
    const { gateway } = await openKeys(era, policy);
    const all = await collect((cursor) => gateway.list({ cursor }, caller()));
    expect(all.map(({ uri }) => uri.slice(top.length)).sort()).toEqual(["/group/a", "/user/1", "/user/2"]);
    expect(JSON.stringify([all, await gateway.stat(`${top}/user/1`, caller())])).not.toContain("hasChildren");
    await refusal(gateway.children(`${top}/user/1`, {}, caller()), ["not-found"], "hidden children");
  });

  it("that go are gone, and their children stay", async () => {
    const { gateway, store } = await openKeys(era);
    const uris = [`${top}/user/1`, `${top}/user/1/friends`];
    const { heard, until } = hear(await gateway.watch({ uris, list: true }, caller()));
    store.delete("user:1");
    await until((change) => change.kind === "updated" && change.uri === uris[0], "that user:1 is gone");
    await until((change) => change.kind === "list-changed", "that the list has changed");
    expect(heard.filter((change) => change.kind === "updated" && change.uri === uris[1])).toEqual([]);
  });
});

describe("an unreachable server", () => {
  it("is reported, does not affect other mounts, and is used again when it is back", async () => {
    const beside = createMemory({ near: "by" });
    const { pressmark, far } = await open({ more: [{ name: "near", base: "memory://near/", source: beside.source }] });
    const call = caller();
    expect((await pressmark.list({}, call)).failures).toBeUndefined();
    const { port } = new URL(far.url);
    log.length = 0;
    await far.stop();
    const page = await pressmark.list({}, call);
    expect(page.items.map(({ uri }) => uri)).toEqual(["memory://near/near"]);
    expect(page.failures).toEqual([{ mount: "far", message: expect.stringContaining("cannot be reached") }]);
    expect(log.filter((line) => line.includes("the other server cannot be reached"))).toHaveLength(1);
    const again = await openFar(content, { port: Number(port) });
    onTestFinished(() => again.stop());
    expect(await textAt(pressmark, here("a"), call)).toEqual({ text: "alpha" });
    expect(log.some((line) => line.includes("is reachable again"))).toBe(true);
  });

  it("that never responds delays others no longer than its time limit", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const beside = createMemory({ near: "by" });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    const pressmark = await openGateway({ url, timeoutMs: 20 }, openPolicy, [
      { name: "near", base: "memory://near/", source: beside.source },
    ]);
    onTestFinished(async () => {
      await pressmark.close();
      silent.closeAllConnections();
      silent.close();
    });
    const page = await pressmark.list({}, caller());
    expect(page.items.map(({ uri }) => uri)).toEqual(["memory://near/near"]);
    expect(page.failures).toHaveLength(1);
  });

  it.each(["modern", "legacy"])("has one deadline for connecting, requests and retries (%s)", async (era) => {
    const { deadlines, setMs, pass } = deadlinesByHand();
    const taken: string[] = [];
    const silent = createServer((request) => {
      taken.push(request.method ?? "");
      pass();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    const pressmark = await openGateway({ url, era, timeoutMs: 3000 }, openPolicy, [], { deadlines });
    onTestFinished(async () => {
      silent.closeAllConnections();
      silent.close();
      await pressmark.close();
    });
    await refusal(pressmark.read(here("a"), caller()), ["unavailable"], "a");
    await new Promise(setImmediate);
    expect(taken).toEqual(["POST"]);
    expect(new Set(setMs)).toEqual(new Set([3000]));
  });

  it("does not keep the server from opening, nor other templates from being listed", async () => {
    const far = await openFar({});
    await far.stop();
    const beside = createMemory({}, { templates: [greeting] });
    const pressmark = await openGateway({ url: far.url }, openPolicy, [
      { name: "near", base: "memory://near/", source: beside.source },
    ]);
    onTestFinished(() => pressmark.close());
    const { items } = await pressmark.templates({}, caller());
    expect(items.map(({ uriTemplate }) => uriTemplate)).toEqual(["memory://near/greet/{planet}"]);
  });
});

describe("a program as another server", () => {
  const script = `
    const lines = require("node:readline").createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      const say = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") say({ protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo: { name: "p", version: "1" } });
      else if (params?.uri === "env://end") process.exit(1);
      else if (method === "resources/read") say({ contents: [{ uri: params.uri, text: JSON.stringify(process.env) }] });
      else if (method === "resources/list") say({ resources: [{ uri: "env://all", name: "all" }] });
      else say({});
    });`;

  it("sees only the configured environment variables, and is restarted when it has ended", async () => {
    process.env["PRESSMARK_TEST_SECRET"] = "hunter2";
    onTestFinished(() => void delete process.env["PRESSMARK_TEST_SECRET"]);
    const pressmark = await openGateway({
      command: process.execPath,
      args: ["-e", script],
      env: { NAMED: "yes" },
      era: "legacy",
    });
    onTestFinished(() => pressmark.close());
    const call = caller();
    const uri = "mcp://far/env:%2F%2Fall";
    const before = JSON.stringify(await textAt(pressmark, uri, call));
    expect(before).toContain("NAMED");
    expect(before).not.toContain("hunter2");
    await refusal(pressmark.read("mcp://far/env:%2F%2Fend", call), ["unavailable"], "the end");
    const again = async (): Promise<unknown> =>
      textAt(pressmark, uri, call).catch(async (cause: ResourceError) => {
        await wait(retryAfterOf(cause) ?? expect.fail(cause.message), call.signal);
        return again();
      });
    expect(JSON.stringify(await again())).toContain("NAMED");
  });
});

describe("the options", () => {
  it("name a program or a URL, not both", () => {
    for (const options of [
      {},
      { url: "https://a.b/mcp", command: "c" },
      { url: "file:///a" },
      { command: "" },
      { url: "https://a", x: 1 },
    ])
      expect(() => toOptions(options), JSON.stringify(options)).toThrow();
    expect(toOptions({ command: "c" })).toMatchObject({ args: [], env: {}, era: "auto" });
  });
});
