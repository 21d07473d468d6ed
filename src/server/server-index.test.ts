import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Call, SearchResult } from "../resources.ts";
import { indexFolder } from "../search/index-folder.ts";
import { takeLease } from "../search/lease.ts";
import type { IndexStatus } from "../search/status.ts";
import { collectChanges } from "../testing/listen.ts";
import { type Server, type OpenServerOptions, openServer } from "./open-server.ts";

let root: string;
let folder: string;
let servers: Server[];
let said: string;
let heardSaid: (() => void)[];
let stop: AbortController;
let call: Call;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-house-index-")));
  folder = join(root, "project");
  for (const name of ["docs", "notes"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "docs/a.md"), "green tea");
  writeFileSync(join(folder, "notes/n.md"), "black tea");
  servers = [];
  said = "";
  heardSaid = [];
  stop = new AbortController();
  call = { caller: { id: "test" }, signal: stop.signal };
});

afterEach(async () => {
  stop.abort();
  for (const pressmark of servers) await pressmark.close();
  rmSync(root, { recursive: true, force: true });
});

async function open(config: string | undefined, more: Partial<OpenServerOptions> = {}): Promise<Server> {
  if (config !== undefined) write(config);
  const env = {
    XDG_CACHE_HOME: join(root, "cache"),
    XDG_STATE_HOME: join(root, "state"),
    HOME: root,
    PRESSMARK_LOG: "info",
  };
  const err = {
    write(line: string) {
      said += line;
      for (const heard of heardSaid.splice(0)) heard();
      return true;
    },
  } as OpenServerOptions["err"];
  const pressmark = await openServer({ folders: [], from: folder, env, err, live: true, ...more });
  servers.push(pressmark);
  return pressmark;
}

function write(config: string): void {
  writeFileSync(join(folder, ".draft"), config);
  renameSync(join(folder, ".draft"), join(folder, "pressmark.config.yaml"));
}

const both = "mounts:\n  docs: { source: file, root: docs }\n  notes: { source: file, root: notes }\n";
const uri = (path: string): string => pathToFileURL(join(folder, path)).href;

async function search({ resources }: Server, text: string): Promise<SearchResult & { readonly uris: string[] }> {
  const answer = await resources.search({ text, limit: 10 }, call);
  return { ...answer, uris: answer.hits.map(({ resource }) => resource.uri).sort() };
}

/** Resolves once the log contains this. */
async function untilSaid(text: string): Promise<void> {
  while (!said.includes(text)) await new Promise<void>((resolve) => heardSaid.push(resolve));
}

/** Checks on every change of the index's status. */
async function until(pressmark: Server, holds: () => boolean | Promise<boolean>): Promise<void> {
  const over = new AbortController();
  let news = Promise.withResolvers<void>();
  pressmark.index.follow(() => news.resolve(), over.signal);
  while (!(await holds())) {
    await news.promise;
    news = Promise.withResolvers<void>();
  }
  over.abort();
}

async function status({ resources }: Server): Promise<Record<string, unknown>> {
  const { contents } = await resources.read("pressmark://index/status", call);
  const [content] = contents;
  expect(content).toMatchObject({ uri: "pressmark://index/status", mimeType: "application/json" });
  return JSON.parse((content!.body as { readonly text: string }).text) as Record<string, unknown>;
}

describe("the index of a server", () => {
  it("is started by the first search", async () => {
    const pressmark = await open(both);
    expect(pressmark.index.status).toBeUndefined();
    expect(await status(pressmark)).toEqual({ state: "starting", keptHere: false, bytes: 0, mounts: [] });
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    expect((await search(pressmark, "tea")).uris).toEqual([uri("docs/a.md"), uri("notes/n.md")]);
    expect((await search(pressmark, "green")).hits).toMatchObject([
      { resource: { uri: uri("docs/a.md"), mimeType: "text/markdown" }, lines: [1, 1] },
    ]);
    expect(said).not.toMatch(/pressmark (?:warn|error):/);
  });

  it("has its status in a resource that can be watched, but is not listed", async () => {
    const pressmark = await open(undefined, { folders: ["docs"] });
    const heard = collectChanges(await pressmark.resources.watch({ uris: ["pressmark://index/status"] }, call));
    await pressmark.index.caughtUp(call);
    await heard.until(({ kind }) => kind === "updated", "that it changed");
    await until(pressmark, async () => (await status(pressmark))["state"] === "complete");
    expect(await status(pressmark)).toMatchObject({
      keptHere: true,
      bytes: expect.any(Number) as number,
      mounts: [{ name: "docs", state: "complete", documents: 1, pending: 0, ready: 1 }],
    });
    expect((await pressmark.resources.list({}, call)).items.map((item) => item.uri)).toEqual([uri("docs/a.md")]);
    expect(await pressmark.resources.stat("pressmark://index/status", call)).toMatchObject({
      mimeType: "application/json",
    });
    expect((await pressmark.resources.children("pressmark://", {}, call)).items).toMatchObject([
      { uri: "pressmark://index" },
    ]);
    for (const missing of ["pressmark://index/other", "pressmark://index/status?x=1"])
      await expect(pressmark.resources.read(missing, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("follows the config: mounts that come and go, or are not to be searched", async () => {
    const pressmark = await open(both);
    await search(pressmark, "tea");
    await until(pressmark, async () => (await search(pressmark, "tea")).uris.length === 2);
    write("mounts:\n  docs: { source: file, root: docs }\n  notes: { source: file, root: notes, search: false }\n");
    await until(pressmark, async () => (await search(pressmark, "tea")).uris.length === 1);
    expect((await search(pressmark, "tea")).uris).toEqual([uri("docs/a.md")]);
    // The same name with another folder: the previous content is not found.
    write("mounts:\n  docs: { source: file, root: notes }\n");
    await until(pressmark, async () => {
      const { uris, ready } = await search(pressmark, "tea");
      expect(uris).not.toContain(uri("notes/a.md"));
      return ready === 1 && uris.includes(uri("notes/n.md"));
    });
    expect(await pressmark.resources.read(uri("notes/n.md"), call)).toBeDefined();
  });

  it("goes on following a mount whose limits are others", async () => {
    const pressmark = await open(both);
    await search(pressmark, "tea");
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    write(`${both}limits: { timeoutMs: 12345 }\n`);
    await untilSaid("the config changed and is in effect");
    writeFileSync(join(folder, "docs/b.md"), "white tea");
    await until(pressmark, async () => (await search(pressmark, "white")).uris.length === 1);
    expect((await search(pressmark, "tea")).uris).toHaveLength(3);
  });

  it("does not exist while the config disables it", async () => {
    const pressmark = await open(`${both}search: { enabled: false }\n`);
    await expect(search(pressmark, "tea")).rejects.toMatchObject({ kind: "unsupported" });
    await pressmark.index.caughtUp(call);
    expect(pressmark.index.status).toBeUndefined();
    expect(existsSync(join(root, "cache"))).toBe(false);
    write(both);
    await untilSaid("the config changed and is in effect");
    await search(pressmark, "tea");
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    expect((await search(pressmark, "tea")).uris).toHaveLength(2);
  });

  it("is there for the next server", async () => {
    const pressmark = await open(both);
    await search(pressmark, "tea");
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    await pressmark.close();
    const next = await open(undefined, { live: false });
    expect(next.index.place).toBe(pressmark.index.place);
    expect((await search(next, "tea")).uris).toHaveLength(2);
  });

  it("shows nothing that is no longer served, even before it has been looked at again", async () => {
    const before = await open(undefined, { folders: ["docs"] });
    await search(before, "tea");
    await until(before, async () => (await search(before, "tea")).ready === 1);
    await before.close();
    // While nobody watches.
    writeFileSync(join(folder, "docs/.ignore"), "a.md\n");
    const pressmark = await open(undefined, { folders: ["docs"] });
    expect((await search(pressmark, "tea")).uris).toEqual([]);
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    expect((await search(pressmark, "tea")).uris).toEqual([]);
  });

  it("sends nothing to an endpoint that a config which was merely found names", async () => {
    const pressmark = await open(
      `${both}search: { embeddings: { url: "http://127.0.0.1:9/v1", model: m, apiKey: "k" } }\n`,
    );
    expect(said).toContain('sends what is indexed to "http://127.0.0.1:9/v1", for search.embeddings');
    await search(pressmark, "tea");
    await until(pressmark, async () => (await search(pressmark, "tea")).ready === 1);
    expect(await status(pressmark)).not.toHaveProperty("embeddings");
  });

  it("leaves its scheme to a mount that uses it", async () => {
    const text = "mounts:\n  index: { source: memory, scheme: pressmark, resources: { status: mine } }\n";
    const pressmark = await open(text, { config: "pressmark.config.yaml" });
    expect((await pressmark.resources.read("pressmark://index/status", call)).contents).toMatchObject([
      { body: { text: "mine" } },
    ]);
  });
});

it("a command that is still open holds up no other: each makes its own pass, and finds what was written since", async () => {
  const first = await open(both, { live: false });
  await first.index.caughtUp(call);
  writeFileSync(join(folder, "docs/b.md"), "oolong tea");
  const second = await open(undefined, { live: false });
  await second.index.caughtUp(call);
  expect([second.index.role, (await search(second, "oolong")).uris]).toEqual(["writer", [uri("docs/b.md")]]);
  expect(await search(first, "green")).toMatchObject({ uris: [uri("docs/a.md")], ready: 1 });
});

it("an index that a search finds damaged is checked when it is opened again", async () => {
  const first = await open(both, { live: false });
  await first.index.caughtUp(call);
  await search(first, "tea");
  await first.close();
  const closed = join(first.index.place, "closed");
  const { takeClosed, markClosed, database } = indexFolder(first.index.place);
  expect(takeClosed()).toBe(true);
  markClosed();
  const second = await open(undefined, { live: false });
  await second.index.caughtUp(call);
  await expect.poll(() => existsSync(closed)).toBe(true);
  writeFileSync(database, Buffer.alloc(8192, 1));
  expect((await search(second, "tea")).ready).toBe(0);
  expect(existsSync(closed)).toBe(false);
});

/** Keeps the index as a server does that has stopped responding. Returns the file of its status. */
async function keepIndex(): Promise<string> {
  const first = await open(both, { live: false });
  await first.index.caughtUp(call);
  await first.close();
  const file = join(first.index.place, "status.json");
  const { isSinglePass: _isSinglePass, ...shown } = JSON.parse(readFileSync(file, "utf8")) as IndexStatus;
  writeFileSync(file, JSON.stringify(shown));
  const lease = takeLease(join(first.index.place, "lock.db"))!;
  servers.push({ close: async () => lease.release() } as Server);
  return file;
}

describe("a command beside a process that keeps the index", () => {
  it("uses that, and says if it may be out of date", async () => {
    const file = await keepIndex();
    const command = await open(undefined, { live: false });
    await command.index.caughtUp(call);
    expect([command.index.role, (await search(command, "tea")).ready]).toEqual(["reader", 1]);
    const seconds = Date.now() / 1000 - 20;
    utimesSync(file, seconds, seconds);
    const next = await open(undefined, { live: false });
    await next.index.caughtUp(call);
    const { uris, ready, failures } = await search(next, "tea");
    expect({ uris: uris.length, ready, role: next.index.role }).toEqual({ uris: 2, ready: 0.99, role: "reader" });
    expect(failures).toMatchObject([{ mount: "docs" }, { mount: "notes" }]);
    expect(failures![0]!.message).toMatch(/^the index was last updated 2\d s ago by another process$/);
  });

  it("does not wait for a mount that it has with other settings", async () => {
    const file = await keepIndex();
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/"key":"[^"]*"/g, '"key":"other"'));
    const command = await open(undefined, { live: false });
    await command.index.caughtUp(call);
    const message = "another Pressmark process keeps this index with other settings; stop or restart it";
    expect(await search(command, "tea")).toMatchObject({ ready: 0, failures: [{ message }, { message }] });
  });

  it("says that it should be restarted if it has another version", async () => {
    const file = await keepIndex();
    const database = new DatabaseSync(join(dirname(file), "index.db"));
    database.exec("update made_by set version = '0'");
    database.close();
    const command = await open(undefined, { live: false });
    await command.index.caughtUp(call);
    const message = expect.stringContaining("if a server of that version is running, restart it") as string;
    expect(await search(command, "tea")).toMatchObject({ ready: 0, failures: [{ message }, { message }] });
  });
});
