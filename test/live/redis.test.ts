/** The redis source on a real server. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Redis } from "ioredis";
import { createRuntime } from "../../src/server/runtime.ts";
import { makeCertificate } from "../../src/server/test-certificate.ts";
import type { Address, Entry, Part, Source } from "../../src/source.ts";
import definition, { openRedis } from "../../src/sources/redis.ts";
import { createRedisConnection, type RedisCommand } from "../../src/sources/redis/connection.ts";
import { createKeyPaths } from "../../src/sources/redis/key-paths.ts";
import { contractContent, sourceContract } from "../../src/testing/index.ts";
import { collectChanges } from "../../src/testing/listen.ts";
import { asking, collect } from "../../src/testing/pages.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { freePort } from "./processes.ts";
import { hasRedis, redisPackages, type RedisServer, startRedis } from "./redis.ts";

const isThere = "CI" in process.env || hasRedis();
const quiet = createRuntime({ write: () => true });
const { pathOf, keyOf } = createKeyPaths(":");
const allEvents = "Eg$lshzxetn";

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
function openCounted(options: Readonly<Record<string, unknown>> = {}): { source: Source; sent: RedisCommand[] } {
  const sent: RedisCommand[] = [];
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
    server = await startRedis(["--enable-debug-command", "local"]);
    redis = server.client();
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    stop = new AbortController();
    await redis.flushall();
    await redis.config("SET", "notify-keyspace-events", allEvents);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(opened.splice(0).map((source) => source.close?.()));
  });

  const field = "{+key}{?field}";
  sourceContract("redis", {
    abilities: ["stat", "children", "templates", "complete", "watch"],
    content: { ...contractContent, "user/1": "a key with another below", "user/1/friends": "below" },
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

  describe("keys", () => {
    it("every key is listed once, reads back and is reached from the mount, whatever its bytes", async () => {
      const source = open({ exclude: [] });
      const pieces = fc.constantFrom(
        ":",
        "/",
        "\\",
        "x41",
        ".",
        "..",
        "%2F",
        "?",
        "#",
        " ",
        "日本",
        "🦊",
        "é",
        "*",
        "[a]",
        "-",
        "a",
      );
      const names = fc.oneof(
        fc.array(pieces, { maxLength: 6 }).map((all) => Buffer.from(all.join(""))),
        fc.uint8Array({ maxLength: 20 }).map((all) => Buffer.from(all)),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(names, { maxLength: 12, selector: (key) => key.toString("hex") }),
          async (keys) => {
            await redis.flushall();
            for (const key of keys) await redis.set(key, `value of ${key.toString("hex")}`);
            const paths = keys.map((key) => pathOf(key)).sort();
            expect((await listed(source)).map(({ path }) => path).sort()).toEqual(paths);
            for (const key of keys) {
              expect(await textAt(source, pathOf(key))).toBe(`value of ${key.toString("hex")}`);
              await source.stat!({ path: pathOf(key) }, call());
            }
            expect((await reached(source)).sort()).toEqual(paths);
          },
        ),
        { numRuns: 40 },
      );
    });

    it("a key that is a resource has children as well", async () => {
      await redis.set("user:1", "Ada");
      await redis.set("user:1:friends", "Bob");
      await redis.set("user:2", "Bob");
      const source = open();
      expect(await childrenOf(source, "")).toEqual({ user: "directory" });
      expect(await childrenOf(source, "user")).toEqual({ "user/1": "both", "user/2": "resource" });
      expect(await childrenOf(source, "user/1")).toEqual({ "user/1/friends": "resource" });
      await refusal(source.children!({ path: "user/2" }, asking(10), call()), ["not-found"], "user/2");
      await redis.del("user:1:friends");
      await refusal(source.children!({ path: "user/1" }, asking(10), call()), ["not-found"], "user/1");
      await redis.del("user:1", "user:2");
      await refusal(source.stat!({ path: "user" }, call()), ["not-found"], "user");
    });

    it("a small database is looked through once for a list or directory, however small the page is", async () => {
      await redis.call("DEBUG", "POPULATE", "5000", "item");
      await redis.mset({ "user:1": "Ada", "user:1:friends:best": "Bob", "user:2": "Bob" });
      const { source, sent } = openCounted();
      await source.list(asking(1000), call());
      expect(countOf(sent, "SCAN")).toBeLessThanOrEqual(8);
      sent.length = 0;
      expect(await childrenOf(source, "user")).toEqual({ "user/1": "both", "user/2": "resource" });
      expect(countOf(sent, "SCAN")).toBeLessThanOrEqual(8);
      const both = (await listed(source)).filter(({ hasChildren }) => hasChildren).map(({ path }) => path);
      expect(new Set(both)).toEqual(new Set(["user/1"]));
      expect(await source.stat!({ path: "user/1" }, call())).toMatchObject({ hasChildren: true });
      expect(await source.stat!({ path: "user/2" }, call())).not.toHaveProperty("hasChildren");
    });

    it("keys of more than 100 parts or 8192 bytes are left out, and named as a problem", async () => {
      const deep = Array.from({ length: 100 }, (_, at) => `p${at}`);
      await redis.mset({ [deep.join(":")]: "x", [[...deep, "p"].join(":")]: "x", ["y".repeat(8193)]: "x" });
      const source = open();
      expect(await pathsOf(source)).toEqual([deep.join("/")]);
      expect(await textAt(source, deep.join("/"))).toBe("x");
      await refusal(source.read({ path: [...deep, "p"].join("/") }, call()), ["not-found"], "101 parts");
      const says = (await source.problems!(call())).map((problem) => problem.says);
      expect(says).toEqual([
        "leaves out keys of more than 8192 bytes: 1 of its first keys",
        "leaves out keys of more than 100 parts: 1 of its first keys",
      ]);
    });

    it("a directory stays while other keys are below, though the one that was seen is gone", async () => {
      let isDeleting = true;
      const source = open({}, (settings) => {
        const connection = createRedisConnection(settings);
        return {
          ...connection,
          // The first and the last key that are seen are deleted before they are looked at again.
          async send(query, signal) {
            const reply = await connection.send(query, signal);
            const keys = query[0] === "SCAN" && isDeleting ? (reply as [Buffer, Buffer[]])[1] : [];
            if (keys.length > 2) await redis.del(keys[0]!, keys.at(-1)!);
            return reply;
          },
        };
      });
      await redis.mset(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`user:${at}`, "x"])));
      expect(await childrenOf(source, "")).toEqual({ user: "directory" });
      expect(await redis.dbsize()).toBeLessThan(10);
      expect(await source.stat!({ path: "user" }, call())).toEqual({ path: "user", mimeType: "inode/directory" });
      isDeleting = false;
      await redis.set("user", "a value as well");
      const seen = (await pathsOf(source)).filter((path) => path !== "user");
      await redis.del(keyOf(seen[0]!)!);
      expect(await source.stat!({ path: "user" }, call())).toMatchObject({ hasChildren: true });
    });

    it("values of modules are left out, and their types named as a problem", async () => {
      await redis.mset({ plain: "x", document: "x" });
      const source = open({}, (settings) => {
        const connection = createRedisConnection(settings);
        return {
          ...connection,
          async sendAll(queries, signal) {
            const replies = await connection.sendAll(queries, signal);
            return replies.map((reply, at) =>
              queries[at]![0] === "TYPE" && String(queries[at]![1]) === "document" ? Buffer.from("ReJSON-RL") : reply,
            );
          },
        };
      });
      expect(await pathsOf(source)).toEqual(["plain"]);
      await refusal(source.read({ path: "document" }, call()), ["not-found"], "document");
      expect(await source.problems!(call())).toEqual([
        { path: "", says: "has values of types that are left out: ReJSON-RL" },
      ]);
    });

    it("another separator makes other paths", async () => {
      await redis.mset({ "a/b": "1", "a:c": "2" });
      expect(await pathsOf(open({ separator: "/" }))).toEqual(["a/b", "a:c"]);
    });

    it("keys of sessions and tokens are left out, and so is what a pattern excludes", async () => {
      await redis.mset({ "sess:1": "x", "app:session:1": "x", "user:token:1": "x", "user:1": "x", sessions: "x" });
      expect(await pathsOf(open())).toEqual(["user/1"]);
      expect(await pathsOf(open({ exclude: ["user/**"] }))).toEqual(["app/session/1", "sess/1", "sessions"]);
      const users = open({ include: ["user/*"], exclude: [] });
      expect(await pathsOf(users)).toEqual(["user/1"]);
      await refusal(users.read({ path: "sess/1" }, call()), ["not-found"], "sess/1");
      await refusal(users.stat!({ path: "sess" }, call()), ["not-found"], "sess");
      expect(await childrenOf(users, "")).toEqual({ user: "directory" });
      expect(
        await users.complete!({ template: users.templates![0]!, variable: "key", value: "", given: {} }, call()),
      ).toEqual([{ value: "user/1", reveals: { path: "user/1" } }]);
    });

    it("serves the database that the url names, and no other", async () => {
      await server.client(3).set("here", "3");
      await redis.set("there", "0");
      expect(await pathsOf(open({ url: `${server.url}/3` }))).toEqual(["here"]);
      const source = open({ url: `${server.url}/999` });
      const { message } = await refusal(source.list(asking(10), call()), ["unavailable"], "999");
      expect(message).toContain("no such database");
    });
  });

  describe("150,000 keys", () => {
    beforeEach(async () => {
      await redis.call("DEBUG", "POPULATE", "150000", "item");
      await redis.set("rare:one", "1");
    });

    it("the first page takes one SCAN", async () => {
      const { source, sent } = openCounted();
      const first = await source.list(asking(100), call());
      expect(first.items.length).toBeGreaterThanOrEqual(100);
      expect(countOf(sent, "SCAN")).toBe(1);
      expect(sent.length).toBe(2 * first.items.length + 2);
    });

    it("all pages together have every key", async () => {
      await redis.flushall();
      await redis.call("DEBUG", "POPULATE", "20000", "item");
      expect(await pathsOf(open())).toHaveLength(20_000);
    });

    it("a page of children takes ten SCANs at most, and is empty while none was found", async () => {
      const { source, sent } = openCounted();
      const { next } = await source.children!({ path: "item" }, asking(100), call());
      expect(next).toBeDefined();
      expect(countOf(sent, "SCAN")).toBe(1);
      sent.length = 0;
      await source.children!({ path: "rare" }, asking(100), call());
      expect(countOf(sent, "SCAN")).toBe(10);
      expect(await childrenOf(source, "rare")).toEqual({ "rare/one": "resource" });
      await refusal(
        collect((cursor) => source.children!({ path: "no" }, asking(9, cursor), call())),
        ["not-found"],
        "no",
      );
    });

    it("a directory that was seen is found at once; one that is not there costs no more than is allowed", async () => {
      const { source, sent } = openCounted({ maxScanned: 20_000 });
      await source.list(asking(10), call());
      sent.length = 0;
      expect(await source.stat!({ path: "item" }, call())).toEqual({ path: "item", mimeType: "inode/directory" });
      expect(sent.map(([command]) => command)).toEqual(["TYPE", "EXISTS"]);
      sent.length = 0;
      const { message } = await refusal(source.read({ path: "missing" }, call()), ["not-found"], "missing");
      expect(message).toContain("among the first 20000 keys");
      expect(countOf(sent, "SCAN")).toBe(20);
    });
  });

  describe("values", () => {
    it("strings are text, JSON or bytes", async () => {
      await redis.set("text", "日本語");
      await redis.set("json", '{"a": [1, 2]}');
      await redis.set("almost", "{not json");
      await redis.set("notes.md", "# Title");
      await redis.set("picture", Buffer.from("89504e470d0a1a0a00000000", "hex"));
      await redis.set("number", "42");
      const source = open();
      expect(await partAt(source, "text")).toMatchObject({ body: { text: "日本語" }, mimeType: "text/plain" });
      expect(await partAt(source, "json")).toMatchObject({
        body: { text: '{"a": [1, 2]}' },
        mimeType: "application/json",
      });
      expect(await partAt(source, "almost")).toMatchObject({ mimeType: "text/plain" });
      expect(await partAt(source, "notes.md")).toMatchObject({ mimeType: "text/markdown" });
      expect(await partAt(source, "picture")).toMatchObject({ mimeType: "image/png" });
      expect(await partAt(source, "number")).toMatchObject({ body: { text: "42" }, mimeType: "text/plain" });
      expect(await source.stat!({ path: "text" }, call())).toEqual({ path: "text", size: 9 });
    });

    it("other types are JSON in an order of their own", async () => {
      await redis.hset("hash", { b: "2", a: "1", "10": "x", __proto__x: "y" });
      await redis.hset("hash", Buffer.from([0xff]), Buffer.from([0xfe]));
      await redis.rpush("list", "c", "a", "b");
      await redis.sadd("set", "c", "a", "b");
      await redis.zadd("zset", 2, "two", 1.5, "one", "+inf", "last");
      await redis.xadd("stream", "1-1", "a", "1", "b", "2");
      await redis.xadd("stream", "2-1", "a", "1", "a", "2");
      const source = open();
      expect(await textAt(source, "hash")).toBe(
        '{\n  "10": "x",\n  "\\\\xff": {"base64":"/g=="},\n  "__proto__x": "y",\n  "a": "1",\n  "b": "2"\n}\n',
      );
      expect(await jsonAt(source, "list")).toEqual(["c", "a", "b"]);
      expect(await jsonAt(source, "set")).toEqual(["a", "b", "c"]);
      expect(await jsonAt(source, "zset")).toEqual([
        { member: "one", score: 1.5 },
        { member: "two", score: 2 },
        { member: "last", score: "inf" },
      ]);
      expect(await jsonAt(source, "stream")).toEqual([
        { id: "1-1", fields: { a: "1", b: "2" } },
        {
          id: "2-1",
          fields: [
            ["a", "1"],
            ["a", "2"],
          ],
        },
      ]);
      expect(await jsonAt(source, "hash", { field: "\\xff" })).toEqual({ "\\xff": { base64: "/g==" } });
      expect((await source.stat!({ path: "stream" }, call())).description).toBe("Stream, 2 entries");
      expect((await source.stat!({ path: "hash" }, call())).description).toBe("Hash, 5 fields");
    });

    it("some items are read with from and count, and each range names the next one", async () => {
      await redis.rpush("list", ...Array.from({ length: 25 }, (_, at) => `item ${at}`));
      await redis.zadd("zset", ...Array.from({ length: 25 }, (_, at) => [at, `member ${at}`]).flat());
      for (let at = 1; at <= 25; at += 1) await redis.xadd("stream", `${at}-0`, "n", String(at));
      await redis.sadd("set", ...Array.from({ length: 2000 }, (_, at) => `member ${at}`));
      await redis.hset(
        "hash",
        Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`field ${at}`, String(at)])),
      );
      const source = open();
      for (const [path, length] of Object.entries({ list: 25, zset: 25, stream: 25, set: 2000, hash: 2000 })) {
        const items = await everyWindow(source, path, "10");
        expect(new Set(items).size, path).toBe(length);
        if (length === 25) expect(items, path).toHaveLength(25);
      }
      expect(await jsonAt(source, "list", { from: "-2" })).toEqual(["item 23", "item 24"]);
      expect(await jsonAt(source, "list", { from: "-3", count: "2" })).toEqual(["item 22", "item 23"]);
      expect(await jsonAt(source, "list", { from: "100" })).toEqual([]);
      for (const query of [
        ["count", "0"],
        ["count", "x"],
        ["from", "x"],
        ["count", "10001"],
      ].map((pair) => Object.fromEntries([pair]) as Record<string, string>))
        await refusal(source.read({ path: "list", query }, call()), ["invalid"], JSON.stringify(query));
      await refusal(source.read({ path: "list", query: { field: "a" } }, call()), ["invalid"], "field");
      await refusal(source.read({ path: "hash", query: { field: "none" } }, call()), ["not-found"], "none");
      await refusal(source.read({ path: "hash", query: { lines: "1-2" } }, call()), ["not-found"], "lines");
      await refusal(source.stat!({ path: "none", query: { count: "1" } }, call()), ["not-found"], "none");
      expect(await source.stat!({ path: "list", query: { count: "1" } }, call())).toMatchObject({
        query: { count: "1" },
      });
    });

    it("what is too large is not loaded, and the error says how to read less", async () => {
      await redis.set("string", "x".repeat(5000));
      await redis.rpush("list", ...Array.from({ length: 30 }, () => "x".repeat(100)));
      await redis.rpush("long", ...Array.from({ length: 101 }, () => "x"));
      await redis.hset("hash", { small: "1", large: "x".repeat(100_000) });
      const { source, sent } = openCounted({ maxBytes: 1024, maxItems: 100 });
      const tooLarge = async (path: string, query?: Address["query"]) =>
        (await refusal(source.read(query ? { path, query } : { path }, call()), ["too-large"], path)).details;
      expect(await tooLarge("string")).toMatchObject({ size: 5000, ranges: ["bytes=0-1023"] });
      expect(await tooLarge("list")).toMatchObject({ length: 30, ranges: ["count=9"] });
      expect(await tooLarge("long")).toMatchObject({ length: 101, ranges: ["count=100"] });
      sent.length = 0;
      expect(await tooLarge("hash")).toMatchObject({ length: 2, ranges: ["count=1", "field=…"] });
      await tooLarge("hash", { field: "large" });
      expect(sent.map(([command]) => command).filter((command) => /^H(?:GET|SCAN)/.test(command))).toEqual([]);
      expect(await jsonAt(source, "hash", { field: "small" })).toEqual({ small: "1" });
      expect(await jsonAt(source, "list", { count: "9" })).toHaveLength(9);
      expect(await textAt(source, "string", { bytes: "0-9" })).toBe("xxxxxxxxxx");
    });

    it("a stream without entries is an empty array", async () => {
      await redis.xgroup("CREATE", "made", "group", "$", "MKSTREAM");
      const id = await redis.xadd("emptied", "*", "a", "1");
      await redis.xdel("emptied", id!);
      const source = open();
      expect(await pathsOf(source)).toEqual(["emptied", "made"]);
      expect(await jsonAt(source, "made")).toEqual([]);
      expect(await jsonAt(source, "emptied", { count: "10" })).toEqual([]);
    });

    it.each([1, 4])("the last range of %i items names no next one", async (length) => {
      const items = Array.from({ length }, (_, at) => `item ${at}`);
      await redis.rpush("list", ...items);
      await redis.zadd("zset", ...items.flatMap((item, at) => [at, item]));
      for (const [at, item] of items.entries()) await redis.xadd("stream", `${at + 1}-0`, "n", item);
      const source = open();
      for (const path of ["list", "zset", "stream"])
        expect((await partAt(source, path, { count: String(length) })).meta, path).toEqual({
          "pressmark/range": { total: length },
        });
    });

    it("a start that no number of 64 bits can be is invalid", async () => {
      await redis.hset("hash", "a", "1");
      await redis.sadd("set", "a");
      await redis.xadd("stream", "1-1", "a", "1");
      await redis.rpush("list", "a");
      const source = open();
      const beyond = String(2n ** 64n);
      for (const path of ["hash", "set", "stream", "list"])
        await refusal(source.read({ path, query: { from: beyond } }, call()), ["invalid"], path);
      for (const from of [`1-${beyond}`, "1-", "-1", "1-1-1"])
        await refusal(source.read({ path: "stream", query: { from } }, call()), ["invalid"], from);
      expect(await jsonAt(source, "stream", { from: String(2n ** 64n - 1n) })).toEqual([]);
      await refusal(source.list(asking(10, beyond), call()), ["invalid"], "the cursor");
    });

    it("a value that expires says when, and is not cached", async () => {
      await redis.set("soon", "x", "PX", 60_000);
      await redis.set("stays", "x");
      const source = open();
      const part = await partAt(source, "soon");
      expect(part.freshness).toEqual({ ttlMs: 0 });
      const left = Date.parse(String(part.meta?.["pressmark/expires"])) - Date.now();
      expect(left).toBeGreaterThan(30_000);
      expect(left).toBeLessThanOrEqual(61_000);
      expect((await partAt(source, "stays")).freshness).toBeUndefined();
    });

    it("a value whose type changes while it is read is read as it is then", async () => {
      await redis.set("changing", "text");
      const source = open({}, (settings) => {
        const connection = createRedisConnection(settings);
        let changes = 1;
        return {
          ...connection,
          async send(query, signal) {
            if (query[0] === "STRLEN" && (changes -= 1) === 0)
              await redis.multi().del("changing").rpush("changing", "a").exec();
            return connection.send(query, signal);
          },
        };
      });
      expect(await jsonAt(source, "changing")).toEqual(["a"]);
    });
  });

  describe("watch", () => {
    it("tells new keys, changes and ends of every type apart, and reports no change that leaves the content", async () => {
      await redis.mset({ moved: "1", overwritten: "1", dying: "1" });
      const source = open();
      const { heard, until } = await watching(source);
      await redis.hset("hash", "a", "1");
      await redis.hset("hash", "a", "2");
      await redis.rpush("list", "a");
      await redis.xadd("stream", "*", "a", "1");
      await redis.xgroup("CREATE", "stream", "group", "$");
      await redis.expire("hash", 1000);
      await redis.set("new", "1", "EX", 1000);
      await redis.copy("hash", "copy");
      await redis.rename("moved", "overwritten");
      await redis.lpop("list");
      await redis.pexpire("dying", 1);
      await until((change) => change.kind === "gone" && change.path === "dying", "the end of dying");
      expect(heard).toEqual([
        { kind: "appeared", path: "hash", eachBelow: true },
        { kind: "changed", path: "hash" },
        { kind: "appeared", path: "list", eachBelow: true },
        { kind: "appeared", path: "stream", eachBelow: true },
        { kind: "appeared", path: "new", eachBelow: true },
        { kind: "appeared", path: "copy", eachBelow: true },
        { kind: "gone", path: "moved", eachBelow: true },
        { kind: "appeared", path: "overwritten", eachBelow: true },
        { kind: "changed", path: "list" },
        { kind: "gone", path: "list", eachBelow: true },
        { kind: "gone", path: "dying", eachBelow: true },
      ]);
    });

    it("reports nothing of excluded keys and of other databases", async () => {
      const { heard, until } = await watching(open({ exclude: ["secret/**"] }));
      await redis.set("secret:1", "x");
      await server.client(2).set("elsewhere", "x");
      await redis.set("seen", "x");
      await until((change) => change.kind !== "lost" && change.path === "seen", "seen");
      expect(heard).toEqual([{ kind: "appeared", path: "seen", eachBelow: true }]);
    });

    it.each(["FLUSHALL", "FLUSHDB", "SWAPDB"])("notices %s, of which no event tells", async (command) => {
      await redis.set("a", "1");
      const { until } = await watching(open({ pollMs: 100 }));
      await (command === "SWAPDB" ? redis.call(command, "0", "1") : redis.call(command));
      await redis.set("b", "2");
      await until(({ kind }) => kind === "lost", "lost");
    });

    it("says which line turns notifications on, and turns them on only if it is told to", async () => {
      await redis.config("SET", "notify-keyspace-events", "Kx");
      const { message } = await refusal(open().watch!(call()), ["unsupported"], "watch");
      expect(message).toContain("redis-cli CONFIG SET notify-keyspace-events 'KEg$lshzxetn'");
      expect(await redis.config("GET", "notify-keyspace-events")).toEqual(["notify-keyspace-events", "xK"]);
      const { until } = await watching(open({ notifications: "enable" }));
      await redis.set("a", "1");
      await until((change) => change.kind === "appeared" && change.path === "a", "a");
    });

    it("keeps events for others when it turns notifications on, also those of modules", async () => {
      await redis.config("SET", "notify-keyspace-events", "KEA");
      const { message } = await refusal(open().watch!(call()), ["unsupported"], "watch");
      expect(message).toContain("'KEg$lshzxetn' (this turns off events of modules; to keep them, set 'AKEn'");
      const { heard, until } = await watching(open({ notifications: "enable", pollMs: 100 }));
      expect((await redis.config("GET", "notify-keyspace-events"))[1]).toMatch(/^An?KE/);
      await redis.set("a", "1");
      await until((change) => change.kind === "appeared" && change.path === "a", "a");
      // The setting is accepted at the next check, too.
      await redis.flushall();
      await until(({ kind }) => kind === "lost", "lost");
      expect(heard).toContainEqual({ kind: "lost" });
    });

    it("throws when notifications are turned off later", async () => {
      const { ended } = await watching(open({ pollMs: 100 }));
      await redis.config("SET", "notify-keyspace-events", "");
      await expect(ended).rejects.toMatchObject({ kind: "unsupported" });
    });
  });

  describe("a server of its own", () => {
    let other: RedisServer;
    afterEach(() => other?.close());

    it("a user with the documented rights can do everything, and nothing else is sent", async () => {
      other = await startRedis(["--notify-keyspace-events", allEvents]);
      const admin = other.client();
      await admin.call("ACL", "SETUSER", "pressmark", "on", ">pass word/1", ...documentedRights);
      await admin.hset("hash", "a", "1");
      await admin.set("text", "x".repeat(10));
      const source = open({ url: other.url, username: "pressmark", password: "pass word/1" });
      expect(await pathsOf(source)).toEqual(["hash", "text"]);
      expect(await jsonAt(source, "hash", { field: "a" })).toEqual({ a: "1" });
      expect(await textAt(source, "text", { bytes: "0-1" })).toBe("xx");
      expect(await source.problems!(call())).toEqual([]);
      const { until } = collectChanges(await source.watch!(call()));
      await admin.set("new", "1");
      await until((change) => change.kind === "appeared", "new");
      expect(await admin.call("ACL", "LOG")).toEqual([]);
    });

    it("keys that the user may not read are left out", async () => {
      other = await startRedis();
      const admin = other.client();
      const rights = documentedRights.map((right) => (right === "~*" ? "~user:*" : right));
      await admin.call("ACL", "SETUSER", "limited", "on", ">pw", ...rights);
      await admin.mset({ "user:1": "Ada", "other:1": "x", plain: "x" });
      await admin.hset("hash", "a", "1");
      const options = { url: other.url, username: "limited", password: "pw" };
      const source = open(options);
      expect(await pathsOf(source)).toEqual(["user/1"]);
      expect(await textAt(source, "user/1")).toBe("Ada");
      expect(await childrenOf(source, "user")).toEqual({ "user/1": "resource" });
      for (const query of [{}, { field: "a" }, { count: "1" }] as Record<string, string>[])
        await refusal(source.read({ path: "hash", query }, call()), ["not-found"], JSON.stringify(query));
      await refusal(source.stat!({ path: "plain" }, call()), ["not-found"], "plain");
      const template = source.templates![0]!;
      expect(
        await source.complete!({ template, variable: "field", value: "", given: { key: "hash" } }, call()),
      ).toEqual([]);
      expect(await source.problems!(call())).toEqual([
        {
          path: "",
          says: "leaves out keys that its user may not read: 3 of its first keys",
          advice: expect.stringContaining('"include"') as string,
        },
      ]);
      const limited = open({ ...options, include: ["user/**"] });
      expect(await childrenOf(limited, "")).toEqual({ user: "directory" });
      expect(await limited.problems!(call())).toEqual([]);
    });

    it("a user without INFO and CONFIG GET watches if the mount assumes notifications", async () => {
      other = await startRedis(["--notify-keyspace-events", allEvents]);
      const admin = other.client();
      const rights = documentedRights.filter((right) => right !== "+info" && right !== "+config|get");
      await admin.call("ACL", "SETUSER", "limited", "on", ">pw", ...rights);
      await admin.set("a", "1");
      const options = { url: other.url, username: "limited", password: "pw", pollMs: 100 };
      const { message } = await refusal(open(options).watch!(call()), ["unsupported"], "watch");
      expect(message).toContain('notifications: "assume"');
      const source = open({ ...options, notifications: "assume" });
      const { until } = await watching(source);
      await admin.set("b", "1");
      await until((change) => change.kind === "appeared" && change.path === "b", "b");
      await admin.flushall();
      await until(({ kind }) => kind === "lost", "lost");
      const says = (await source.problems!(call())).map((problem) => problem.says);
      expect(says).toEqual([expect.stringContaining("a user who may not send INFO")]);
    });

    it("closes at once while a watch or a call is connecting", async () => {
      const silent = createServer();
      const { promise: both, resolve } = Promise.withResolvers<void>();
      const sockets: Socket[] = [];
      silent.on("connection", (socket) => {
        socket.on("error", () => undefined);
        if (sockets.push(socket) === 2) resolve();
      });
      await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
      const { port } = silent.address() as AddressInfo;
      // Nothing answers the greeting of TLS.
      const url = `rediss://127.0.0.1:${port}`;
      const source = open({ url, timeoutMs: 600_000, notifications: "assume" });
      const pending = Promise.allSettled([source.watch!(call()), source.list(asking(1), call())]);
      await both;
      await source.close!();
      expect((await pending)[1]).toMatchObject({ reason: { kind: "cancelled" } });
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => silent.close(closed));
    });

    it("errors name what to do, and never the password", async () => {
      other = await startRedis(["--requirepass", "hunter2-secret"]);
      const messageOf = async (options: object, kind: "denied" | "unavailable") => {
        const error = await refusal(open({ url: other.url, ...options }).list(asking(1), call()), [kind], "list");
        expect(`${error.message} ${String(error.cause)} ${JSON.stringify(error.details)}`).not.toContain("secret");
        return error.message;
      };
      expect(await messageOf({}, "denied")).toContain('set "password"');
      expect(await messageOf({ password: "wrong-secret" }, "denied")).toContain("rejects the user or the password");
      const wrong = other.url.replace("//", "//default:wrong-secret@");
      expect(await messageOf({ url: wrong }, "denied")).toContain("rejects the user or the password");
      const right = other.url.replace("//", "//default:hunter2-secret@");
      expect((await open({ url: right }).list(asking(1), call())).items).toEqual([]);
      await other.stop();
      expect(await messageOf({ url: right }, "unavailable")).toContain("no Redis server listens there");
    });

    it("a restart ends the watch, and the next call connects again", async () => {
      other = await startRedis(["--notify-keyspace-events", allEvents]);
      const admin = other.client();
      await admin.set("a", "1");
      const source = open({ url: other.url });
      expect(await pathsOf(source)).toEqual(["a"]);
      const { ended } = collectChanges(await source.watch!(call()));
      await other.stop();
      await expect(ended).rejects.toMatchObject({ kind: "unavailable" });
      await refusal(source.read({ path: "a" }, call()), ["unavailable"], "a");
      await other.start();
      await admin.set("b", "2");
      expect(await pathsOf(source)).toEqual(["b"]);
      const { until } = collectChanges(await source.watch!(call()));
      await admin.set("c", "3");
      await until((change) => change.kind === "appeared", "c");
    });

    it("a server that hangs delays no call beyond its limit, and the next call gets a new connection", async () => {
      other = await startRedis();
      await other.client().set("a", "1");
      const source = open({ url: other.url, timeoutMs: 500 });
      expect(await pathsOf(source)).toEqual(["a"]);
      other.process.kill("SIGSTOP");
      await refusal(source.read({ path: "a" }, call()), ["unavailable"], "a");
      other.process.kill("SIGCONT");
      expect(await textAt(source, "a")).toBe("1");
    });

    it("connects with TLS to a server whose authority is trusted, and through a socket", async () => {
      const folder = mkdtempSync(join(tmpdir(), "pressmark-redis-"));
      try {
        const { cert, key } = makeCertificate(folder, "redis");
        const tlsPort = await freePort();
        const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert];
        const socket = join(folder, "redis.sock");
        const ports = ["--tls-port", String(tlsPort), "--tls-auth-clients", "no", "--unixsocket", socket];
        other = await startRedis([...ports, ...files]);
        await other.client().set("a", "1");
        const url = `rediss://localhost:${tlsPort}`;
        expect(await pathsOf(open({ url, ca: cert }))).toEqual(["a"]);
        expect(await pathsOf(open({ url: `redis+socket://${socket}?db=0` }))).toEqual(["a"]);
        const untrusted = await refusal(open({ url }).list(asking(1), call()), ["unavailable"], "untrusted");
        expect(untrusted).toMatchObject({ passing: false, message: expect.stringContaining('set "ca"') as string });
        const missing = open({ url, ca: join(folder, "none.pem") }).list(asking(1), call());
        expect((await refusal(missing, ["unavailable"], "ca")).message).toContain('the file that "ca" names');
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it("a server of a cluster is named as what is not supported", async () => {
      other = await startRedis(["--cluster-enabled", "yes"]);
      const source = open({ url: other.url });
      const says = (await source.problems!(call())).map((problem) => problem.says);
      expect(says.join()).toContain("is one server of a cluster");
      await refusal(source.read({ path: "a" }, call()), ["unsupported"], "a");
    });
  });
});

/** As docs/sources/redis.md names them. */
const documentedRights = readFileSync(join(import.meta.dirname, "../../docs/sources/redis.md"), "utf8")
  .match(/^ACL SETUSER pressmark on >\S+ (.+)$/m)![1]!
  .split(" ");

const countOf = (sent: readonly RedisCommand[], command: string) => sent.filter(([name]) => name === command).length;

/** Paths of all resources that are found by descending. */
async function reached(source: Source, path = ""): Promise<string[]> {
  const found: string[] = [];
  for (const [child, kind] of Object.entries(await childrenOf(source, path))) {
    if (kind !== "directory") found.push(child);
    if (kind !== "resource") found.push(...(await reached(source, child)));
  }
  return found;
}

const watching = async (source: Source) => collectChanges(await source.watch!(call()));

/** All items, range by range. */
async function everyWindow(source: Source, path: string, count: string): Promise<string[]> {
  const items: string[] = [];
  for (let query: Record<string, string> = { count }; ;) {
    const part = await partAt(source, path, query);
    if (!("text" in part.body)) throw new Error("it is not text");
    const value = JSON.parse(part.body.text) as object;
    for (const item of Array.isArray(value) ? (value as unknown[]) : Object.entries(value))
      items.push(JSON.stringify(item));
    const { next } = part.meta!["pressmark/range"] as { readonly next?: string };
    if (next === undefined) return items;
    query = Object.fromEntries(new URLSearchParams(next));
  }
}
