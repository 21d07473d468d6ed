/** The redis source on a real server. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Redis } from "ioredis";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Address, Entry, Part, Source } from "../../src/source.ts";
import definition, { openRedis } from "../../src/sources/redis.ts";
import { createRedisConnection, type Query } from "../../src/sources/redis/connection.ts";
import { createKeyPaths } from "../../src/sources/redis/key-paths.ts";
import { sourceContract } from "../../src/testing/index.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { asking, collect } from "../../src/testing/pages.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { hasRedis, redisPackages, type RedisServer, startRedis } from "./redis.ts";

const isThere = "CI" in process.env || hasRedis();
const quiet = createRuntime({ write: () => true });
const { pathOf, keyOf } = createKeyPaths(":");
const all = "Eg$lshzxetn";

let server: RedisServer;
let redis: Redis;
let stop: AbortController;
const opened: Source[] = [];
const call = () => ({ caller: { id: "test" }, signal: stop.signal });

function open(options: Readonly<Record<string, unknown>> = {}, connect?: typeof createRedisConnection): Source {
  const source = openRedis(definition.options(z).parse({ url: server.url, ...options }), quiet, connect);
  opened.push(source);
  return source;
}

/** A source, and the commands that it sends. */
function openCounted(options: Readonly<Record<string, unknown>> = {}): { source: Source; sent: Query[] } {
  const sent: Query[] = [];
  const source = open(options, (settings) => {
    const connection = createRedisConnection(settings);
    return {
      ...connection,
      send: (query, signal) => (sent.push(query), connection.send(query, signal)),
      sendAll: (queries, signal) => (sent.push(...queries), connection.sendAll(queries, signal)),
    };
  });
  return { source, sent };
}

async function partAt(source: Source, path: string, query?: Address["query"]): Promise<Part> {
  const [part] = await source.read(query ? { path, query } : { path }, call());
  return part!;
}

async function textAt(source: Source, path: string, query?: Address["query"]): Promise<string> {
  const { body } = await partAt(source, path, query);
  return "text" in body ? body.text : expect.fail("it is not text");
}

const jsonAt = async (source: Source, path: string, query?: Address["query"]): Promise<unknown> =>
  JSON.parse(await textAt(source, path, query));
const listed = (source: Source) => collect<Entry>((cursor) => source.list(asking(100, cursor), call()));
const pathsOf = async (source: Source) => [...new Set((await listed(source)).map(({ path }) => path))].sort();
const childrenOf = async (source: Source, path: string, limit = 100) => {
  const found = await collect<Entry>((cursor) => source.children!({ path }, asking(limit, cursor), call()));
  return Object.fromEntries(
    found.map(({ path: child, mimeType, hasChildren }) => [
      child,
      mimeType === "inode/directory" ? "directory" : hasChildren ? "both" : "resource",
    ]),
  );
};

describe.skipIf(!isThere)(`redis (skipped where there is no Redis; Debian has it: ${redisPackages})`, () => {
  beforeAll(async () => {
    server = await startRedis();
    redis = server.client();
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    stop = new AbortController();
    await redis.flushall();
    await redis.config("SET", "notify-keyspace-events", all);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(opened.splice(0).map((source) => source.close?.()));
  });

  const field = "{+key}{?field}";
  sourceContract("redis", {
    abilities: ["stat", "children", "templates", "complete", "watch"],
    async open(content) {
      for (const [path, text] of Object.entries(content)) await redis.set(keyOf(path)!, text ?? "");
      await redis.hset("person", { name: "Ada", born: "1815" });
      return open();
    },
    write: async (path, text) => void (await redis.set(keyOf(path)!, text)),
    remove: async (path) => void (await redis.del(keyOf(path)!)),
    rename: async (from, to) => void (await redis.rename(keyOf(from)!, keyOf(to)!)),
    clear: async () => void (await redis.flushall()),
    expansions: [
      { at: { path: "person", query: { field: "name" } }, text: '{\n  "name": "Ada"\n}\n' },
      { at: { path: "docs/b.txt", query: { lines: "2-2" } }, text: "with a second line" },
      { at: { path: "person", query: { count: "10" } }, text: '{\n  "born": "1815",\n  "name": "Ada"\n}\n' },
    ],
    completions: [
      { template: field, variable: "key", value: "docs/d", expected: "docs/deep/er/c.txt" },
      { template: field, variable: "key", value: "names/日", expected: "names/日本語.md" },
      { template: field, variable: "field", value: "b", given: { key: "person" }, expected: "born" },
    ],
  });
});
