/** `pressmark` as users start it, with a mount of a real Redis server: over MCP, on the command line, and through a restart of Redis. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Redis } from "ioredis";
import { connect, type RemoteServer } from "../../src/client/index.ts";
import type { Change } from "../../src/resources.ts";
import { collectChanges, type TestListener } from "../../src/testing/listen.ts";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { hasRedis, redisPackages, type RedisServer, startRedis } from "./redis.ts";

const isThere = "CI" in process.env || hasRedis();
const scratch = createScratch();
const program = join(import.meta.dirname, "../../bin/pressmark.js");
const stop = new AbortController();
const call = { caller: { id: "test" }, signal: stop.signal };
const flags = "Eg$lshzxetn";

let server: RedisServer;
let redis: Redis;
let served: Served;
let pressmark: RemoteServer;

function run(...words: readonly string[]): { readonly stdout: string; readonly stderr: string } {
  const config = ["--config", "pressmark.yaml"];
  return spawnSync(process.execPath, [program, ...words, ...config], {
    cwd: scratch.folder,
    env: scratch.env,
    encoding: "utf8",
  });
}

async function textAt(uri: string): Promise<string> {
  const { contents } = await pressmark.read(uri, call);
  const body = contents[0]?.body;
  return body && "text" in body ? body.text : "";
}

/** Finds a text once the index has followed the change. */
async function found(text: string): Promise<readonly string[]> {
  for (;;) {
    const { hits } = await pressmark.search({ text, limit: 5 }, call);
    if (hits.length > 0) return hits.map(({ resource }) => resource.uri);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const updated = ({ until }: TestListener<Change>, uri: string) =>
  until((change) => change.kind === "updated" && change.uri === uri, `a change of ${uri}`);

describe.skipIf(!isThere)(`pressmark with Redis (skipped where there is none; Debian has it: ${redisPackages})`, () => {
  beforeAll(async () => {
    server = await startRedis(["--notify-keyspace-events", flags]);
    redis = server.client();
    await redis.mset({ "user:1": "Ada", "日本語:メモ": "検索できる文章です", "sess:1": "hidden" });
    await redis.rpush("user:1:friends", "Bob", "Eve");
    writeFileSync(
      join(scratch.folder, "pressmark.yaml"),
      `mounts:\n  cache: { source: redis, url: "${server.url}", search: true, pollMs: 100 }\n`,
    );
    served = await startServe(["--config", "pressmark.yaml"], { cwd: scratch.folder, env: scratch.env });
    pressmark = await connect(`http://127.0.0.1:${served.port}/mcp`);
  });
  afterAll(async () => {
    stop.abort();
    await pressmark?.close();
    served?.child.kill("SIGTERM");
    await served?.exited;
    await server?.close();
    scratch.remove();
  });

  it("lists, reads, completes and searches", async () => {
    const { items } = await pressmark.list({}, call);
    const uris = items.map(({ uri }) => decodeURI(uri)).filter((uri) => uri.startsWith("redis:"));
    expect(uris.sort()).toEqual(["redis://cache/user/1", "redis://cache/user/1/friends", "redis://cache/日本語/メモ"]);
    expect(await textAt("redis://cache/user/1")).toBe("Ada");
    expect(await textAt("redis://cache/user/1/friends?from=1&count=1")).toBe('[\n  "Eve"\n]\n');
    expect((await found("文章")).map(decodeURI)).toEqual(["redis://cache/日本語/メモ"]);
    const template = "redis://cache/{+key}{?field}";
    const { values } = await pressmark.complete({ template, variable: "key", value: "user/1/", given: {} }, call);
    expect(values).toEqual(["user/1/friends"]);
  });

  it("shows keys as a tree, through a key that has a value and children", () => {
    const { stdout } = run("tree");
    expect(stdout).toMatch(/user\/.*\n.*1\/.*3 B\n.*friends/);
    expect(stdout).not.toContain("sess");
  });

  it("tells a client of a change, a new key and a restart, and answers again afterwards", async () => {
    const uri = "redis://cache/user/1";
    const watch = collectChanges(await pressmark.watch({ uris: [uri], list: true }, call));
    await redis.set("user:1", "Ada Lovelace");
    await updated(watch, uri);
    expect(await textAt(uri)).toBe("Ada Lovelace");
    await redis.set("fresh", "a kettle whistles");
    await watch.until(({ kind }) => kind === "list-changed", "a change of the list");
    expect(await found("kettle")).toEqual(["redis://cache/fresh"]);

    await server.stop();
    await expect(textAt(uri)).rejects.toThrow(/Redis server/);
    const before = watch.heard.length;
    await server.start();
    await redis.set("user:1", "Grace");
    await watch.until((change, at) => at >= before && change.kind === "updated", "a change after the restart");
    expect(await textAt(uri)).toBe("Grace");
  });

  it("the doctor names the line that turns notifications on", async () => {
    const healthy = run("doctor").stdout;
    expect(healthy).toMatch(/^ok +mount cache: .*watched/m);
    await redis.config("SET", "notify-keyspace-events", "");
    expect(run("doctor").stdout).toMatch(
      /^hint +mount cache: .*run: redis-cli CONFIG SET notify-keyspace-events 'Eg\$lshzxetn'/m,
    );
  });
});
