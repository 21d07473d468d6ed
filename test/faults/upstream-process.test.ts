/** The programs and sessions that the gateway opens, as it is served with its index: one each. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it, onTestFinished, vi } from "vitest";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import type { Call } from "../../src/resources.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { serveSessions } from "../client/peers.ts";
import { openScripted } from "../client/scripted-server.ts";
import { createScratch, startServe } from "./pressmark-process.ts";

const timeout = 60_000;
const patience = { timeout: 55_000 };
const program = join(import.meta.dirname, "upstream-program.mjs");
const command = join(import.meta.dirname, "../../bin/pressmark.js");
const tea = "mcp://far/note:%2F%2Ftea";

type Manner = "refuse" | "ignore" | "exit" | "tools";

/** A config with the mount "far", and the process ids of its program so far. */
function configure(mount: object) {
  const { folder, env, remove } = createScratch();
  onTestFinished(remove);
  const config = join(folder, "pressmark.config.json");
  const write = (more: object = {}): void =>
    writeFileSync(config, JSON.stringify({ mounts: { far: { source: "mcp", ...mount }, ...more } }));
  write();
  return { folder, env, config, write };
}

function withProgram(manner: Manner, options: object = {}) {
  const { folder, remove } = createScratch();
  onTestFinished(remove);
  const file = join(folder, "starts");
  writeFileSync(file, "");
  const starts = () => readFileSync(file, "utf8").split("\n").slice(0, -1).map(Number);
  return { starts, mount: { command: process.execPath, args: [program, file, manner], ...options } };
}

function caller(): Call {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { caller: { id: "test" }, signal: stop.signal };
}

async function served({ folder: cwd, env, config }: ReturnType<typeof configure>) {
  const serving = await startServe(["--config", config], { cwd, env });
  onTestFinished(async () => {
    serving.child.kill("SIGKILL");
    await serving.exited;
  });
  const pressmark = await connect(`http://127.0.0.1:${serving.port}/mcp`);
  onTestFinished(() => pressmark.close());
  return { serving, pressmark };
}

/** Searches until the index is complete. */
function searched(pressmark: RemoteServer, text: string) {
  return vi.waitFor(async () => {
    const found = await pressmark.search({ text, limit: 5 }, caller());
    expect(found.ready).toBe(1);
    return found;
  }, patience);
}

/** Reads the status until the mount has been checked. */
function healthOf(pressmark: RemoteServer, mount: string) {
  return vi.waitFor(async () => {
    const [content] = (await pressmark.read("pressmark://status", caller())).contents;
    const text = content && "text" in content.body ? content.body.text : "{}";
    const { mounts } = JSON.parse(text) as { readonly mounts: readonly { name: string; state: string }[] };
    const health = mounts.find(({ name }) => name === mount)?.state;
    expect(health).not.toBe("checking");
    return health;
  }, patience);
}

/** Everything that can be requested of the mount "far". */
async function useAll(pressmark: RemoteServer): Promise<void> {
  const call = caller();
  const listed = await Promise.all([pressmark.list({}, call), pressmark.list({}, call)]);
  for (const { items } of listed) expect(items.map(({ uri }) => uri)).toContain(tea);
  expect((await pressmark.read(tea, call)).contents).toMatchObject([{ body: { text: "green tea" } }]);
  const templates = (await pressmark.templates({}, call)).items.map(({ uriTemplate }) => uriTemplate);
  const template = "mcp://far/note:%2F%2F{name}";
  expect(templates).toContain(template);
  const completed = await pressmark.complete({ template, variable: "name", value: "t", given: {} }, call);
  expect(completed.values).toEqual(["tea"]);
  await pressmark.watch({ uris: [tea], list: true }, call);
  expect((await searched(pressmark, "green")).hits.map(({ resource }) => resource.uri)).toEqual([tea]);
}

it.each(["refuse", "ignore"] as const)(
  "serve starts a program once, with its index and through a change of the config (%s)",
  { timeout },
  async (manner) => {
    const { starts, mount } = withProgram(manner, { timeoutMs: 6000 });
    const scratch = configure(mount);
    const { pressmark } = await served(scratch);
    await useAll(pressmark);
    const { until } = collectChanges(await pressmark.watch({ list: true }, caller()));
    mkdirSync(join(scratch.folder, "more"));
    writeFileSync(join(scratch.folder, "more", "a.md"), "coffee\n");
    scratch.write({ more: { source: "file", root: "more" } });
    await until(({ kind }) => kind === "list-changed", "that the config is in effect");
    await useAll(pressmark);
    expect(starts()).toHaveLength(1);
  },
);

it(
  "a program that exits on the first unknown request is started again once, and later not probed",
  { timeout },
  async () => {
    const { starts, mount } = withProgram("exit");
    const { pressmark } = await served(configure(mount));
    await useAll(pressmark);
    expect(starts()).toHaveLength(2);
    process.kill(starts().at(-1)!, "SIGKILL");
    await useAll(pressmark);
    expect(starts()).toHaveLength(3);
  },
);

it("stdio starts a program once, with its index", { timeout }, async () => {
  const { starts, mount } = withProgram("refuse");
  const { config, env } = configure(mount);
  const args = [command, "stdio", "--config", config];
  const pressmark = await connectProgram({ command: process.execPath, args, env: env as Record<string, string> });
  onTestFinished(() => pressmark.close());
  await useAll(pressmark);
  expect(starts()).toHaveLength(1);
});

it("serve opens one session at a server over HTTP, with its index", { timeout }, async () => {
  await using peer = await serveSessions(() => {
    const mcp = new McpServer({ name: "notes", version: "1" });
    mcp.registerResource("tea", "note://tea", {}, ({ href: uri }) => ({ contents: [{ uri, text: "green tea" }] }));
    return mcp;
  });
  const { pressmark } = await served(configure({ url: peer.url }));
  const call = caller();
  await pressmark.list({}, call);
  await pressmark.watch({ list: true }, call);
  expect((await searched(pressmark, "green")).hits).toHaveLength(1);
  expect(peer.sessions()).toHaveLength(1);
});

it("the era of a server over HTTP is detected once, however often its session ends", async () => {
  let status: number | undefined;
  const list = () => (status === undefined ? { result: { resources: [] } } : { status });
  await using server = await openScripted({ "resources/list": list });
  const pressmark = await connect(server.url, { patience: { firstMs: 1, longestMs: 1 } });
  onTestFinished(() => pressmark.close());
  const call = caller();
  const probes = () => server.asked.filter((method) => method === "server/discover").length;
  const handshakes = () => server.asked.filter((method) => method === "initialize").length;
  await pressmark.list({}, call);
  expect([probes(), handshakes()]).toEqual([1, 1]);
  // The session is unknown, so each attempt connects again.
  status = 404;
  await expect(pressmark.list({}, call)).rejects.toMatchObject({ kind: "unavailable" });
  // Each of three attempts used a connection of its own.
  expect([probes(), handshakes()]).toEqual([1, 3]);
});

it("a server of tools alone is reported once, and is no failure", { timeout }, async () => {
  const { starts, mount } = withProgram("tools");
  const scratch = configure(mount);
  const { folder: cwd, env, config } = scratch;
  const { serving, pressmark } = await served(scratch);
  const call = caller();
  for (let round = 0; round < 3; round += 1) {
    expect(await pressmark.list({}, call)).toMatchObject({ items: [] });
    expect((await pressmark.list({}, call)).failures ?? []).toEqual([]);
    expect((await pressmark.templates({}, call)).failures ?? []).toEqual([]);
    expect((await searched(pressmark, "tea")).failures ?? []).toEqual([]);
  }
  await pressmark.watch({ list: true }, call);
  expect(await healthOf(pressmark, "far")).toBe("ok");
  expect(serving.errors).toBe('pressmark warn: the other server serves no resources (mount "far")\n');
  expect(starts()).toHaveLength(1);
  const doctor = await promisify(execFile)(process.execPath, [command, "doctor", "--config", config], { cwd, env });
  expect(doctor.stdout).not.toContain("broken");
});

it("the log names the mount of a program that cannot be started, not the program", { timeout }, async () => {
  const { serving, pressmark } = await served(
    configure({ command: process.execPath, args: ["-e", "process.exit(1)"] }),
  );
  const call = caller();
  expect((await pressmark.list({}, call)).failures).toMatchObject([{ mount: "far" }]);
  const lines = serving.errors.split("\n").slice(0, -1);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toContain('mount "far"');
  expect(serving.errors).not.toContain(process.execPath);
});
