/** Fifteen public servers, mounted together in one `pressmark serve` with its index. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect, type RemoteServer } from "../../../src/client/connect.ts";
import { walkPages } from "../../../src/client/walk-pages.ts";
import type { Call, Page, PageRequest } from "../../../src/resources.ts";
import { collectChanges } from "../../../src/testing/listen.ts";
import { createScratch, type Served, startServe } from "../../faults/pressmark-process.ts";
import { entryOf, installServers } from "./install-servers.ts";
import { type PublicServer, publicServers } from "./public-servers.ts";

const missing = installServers();
if (missing !== undefined) console.warn(`skipped: ${missing}`);

const scratch = createScratch();
const data = join(scratch.folder, "data");
const names = Object.keys(publicServers);
const servers = Object.entries(publicServers);
const holding = servers.filter(([, { resources }]) => resources !== undefined);
const empty = servers.filter(([, { resources }]) => resources === undefined).map(([name]) => name);
const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
let served: Served;
let pressmark: RemoteServer;

const uriOf = (mount: string, uri: string): string => `mcp://${mount}/${uri.replace("://", ":%2F%2F")}`;
const startsOf = (name: string): string => join(scratch.folder, `${name}.starts`);

function mountOf(name: string, server: PublicServer): object {
  const preload = pathToFileURL(join(import.meta.dirname, "preload.mjs"));
  preload.searchParams.set("starts", startsOf(name));
  if (server.update) {
    const params = { name: server.update.tool, arguments: server.update.arguments };
    const request = { jsonrpc: "2.0", id: "test", method: "tools/call", params };
    preload.searchParams.set("call", JSON.stringify(request));
  }
  const here = (text: string): string => text.replace("FOLDER", data);
  const env = Object.entries(server.env ?? {}).map(([key, value]) => [key, here(value)]);
  return {
    source: "mcp",
    command: process.execPath,
    args: ["--import", preload.href, entryOf(server), ...(server.args ?? []).map(here)],
    env: { HOME: data, ...Object.fromEntries(env) },
    cwd: data,
    timeoutMs: 120_000,
  };
}

/** The processes that `pressmark serve` started for this mount so far. */
function startedFor(name: string): number[] {
  if (!existsSync(startsOf(name))) return [];
  const lines = readFileSync(startsOf(name), "utf8").split("\n").slice(0, -1);
  const started = lines.map((line) => line.split(" ").map(Number) as [number, number]);
  // A server may start processes of its own.
  return started.filter(([, parent]) => parent === served.child.pid).map(([pid]) => pid);
}

const startedPerServer = () => Object.fromEntries(names.map((name) => [name, startedFor(name).length]));
const everyServer = (count: number) => Object.fromEntries(names.map((name) => [name, count]));

async function collect<T>(pages: (request: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of walkPages(pages, { maxPages: 100 })) all.push(each);
  return all;
}

async function textOf(uri: string): Promise<string> {
  const [content] = (await pressmark.read(uri, call)).contents;
  return content && "text" in content.body ? content.body.text : "";
}

const patience = { timeout: 170_000 };
const untilListed = () =>
  vi.waitFor(async () => expect((await pressmark.list({}, call)).failures ?? []).toEqual([]), patience);

const withoutResources = (name: string) => `pressmark warn: the other server serves no resources (mount "${name}")`;

describe.skipIf(missing !== undefined)("fifteen public servers", () => {
  beforeAll(async () => {
    mkdirSync(data);
    writeFileSync(join(data, "a.txt"), "tea\n");
    execFileSync("git", ["init", "--quiet", data]);
    const config = join(scratch.folder, "pressmark.json");
    const mounts = Object.fromEntries(servers.map(([name, server]) => [name, mountOf(name, server)]));
    writeFileSync(config, JSON.stringify({ mounts }));
    served = await startServe(["--config", config], { cwd: scratch.folder, env: scratch.env });
    pressmark = await connect(`http://127.0.0.1:${served.port}/mcp`, { timeoutMs: 170_000 });
  });
  afterAll(async () => {
    await pressmark?.close();
    served?.child.kill("SIGTERM");
    await served?.exited;
    scratch.remove();
  });

  it("are listed, each resource once, with no failure once they have started", async () => {
    await untilListed();
    const listed = await collect((request) => pressmark.list(request, call));
    const expected = holding.flatMap(([name, { resources = [] }]) =>
      resources.filter(({ isListed }) => isListed !== false).map(({ uri }) => uriOf(name, uri)),
    );
    const found = listed.map(({ uri }) => uri).filter((uri) => uri.startsWith("mcp://"));
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  it("are read", async () => {
    for (const [name, { resources = [] }] of holding)
      for (const { uri, text } of resources) expect(await textOf(uriOf(name, uri)), uri).toContain(text);
  });

  it("have their templates and completions", async () => {
    const templates = (await collect((request) => pressmark.templates(request, call))).map((each) => each.uriTemplate);
    for (const [name, { templates: own = [], completion }] of holding) {
      for (const template of own) expect(templates).toContain(uriOf(name, template));
      if (!completion) continue;
      const { value } = completion;
      const template = uriOf(name, completion.template);
      const variable = /\{(\w+)\}/.exec(template)![1]!;
      const { values } = await pressmark.complete({ template, variable, value, given: {} }, call);
      expect(values).toEqual(completion.values);
    }
  });

  it("are searched", async () => {
    const found = await vi.waitFor(async () => {
      const result = await pressmark.search({ text: "Everything Server architecture", limit: 5 }, call);
      expect(result.ready).toBe(1);
      return result;
    }, patience);
    expect(found.failures ?? []).toEqual([]);
    expect(found.hits.map(({ resource }) => resource.uri)).toContain(
      uriOf("everything", "demo://resource/static/document/architecture.md"),
    );
  });

  it.each(holding.filter(([, { update }]) => update))("announce updates: %s", async (name, { update }) => {
    const stop = new AbortController();
    const uri = uriOf(name, update!.uri);
    const watch = await pressmark.watch({ uris: [uri] }, { ...call, signal: stop.signal });
    expect(watch.uris).toEqual([uri]);
    const changes = collectChanges(watch);
    process.kill(startedFor(name)[0]!, "SIGUSR2");
    await changes.until((change) => change.kind === "updated" && change.uri === uri, `an update of ${uri}`);
    expect(await textOf(uri)).toContain(update!.text);
    stop.abort();
  });

  it("have one process each, and only those without resources are mentioned in the log, once", () => {
    expect(startedPerServer()).toEqual(everyServer(1));
    // A line names the request during which it was written, if there is one.
    const lines = served.errors
      .replaceAll(/, request "[^"]*"/g, "")
      .split("\n")
      .slice(0, -1);
    expect(lines.toSorted()).toEqual(empty.map(withoutResources).toSorted());
  });

  it("are started again by the next request after a crash, as one process", async () => {
    for (const name of names) process.kill(startedFor(name)[0]!, "SIGKILL");
    await untilListed();
    for (const [name, { resources = [] }] of holding)
      for (const { uri, text } of resources) expect(await textOf(uriOf(name, uri)), uri).toContain(text);
    expect(startedPerServer()).toEqual(everyServer(2));
  });
});
