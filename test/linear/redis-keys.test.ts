import { describe, expect, it } from "vitest";
import type { RedisCommand, RedisReply } from "../../src/sources/redis/connection.ts";
import { createKeyPaths } from "../../src/sources/redis/key-paths.ts";
import { createKeyspace } from "../../src/sources/redis/keyspace.ts";
import { findGrowth } from "./cpu-growth.ts";

const { signal } = new AbortController();

/** Keys as a server with these keys returns them: all are strings of one byte. */
function keyspaceOf(keys: readonly string[]) {
  const bytes = keys.map((key) => Buffer.from(key));
  function reply([command, cursor]: RedisCommand): RedisReply {
    if (command === "DBSIZE") return keys.length;
    if (command === "TYPE") return Buffer.from("string");
    if (command !== "SCAN") return 1;
    const next = Number(cursor) + 1000;
    return [Buffer.from(next < keys.length ? String(next) : "0"), bytes.slice(Number(cursor), next)];
  }
  return createKeyspace({
    connection: { send: async (query) => reply(query), sendAll: async (queries) => queries.map(reply) },
    paths: createKeyPaths(":"),
    isServed: () => true,
    maxScanned: 10_000,
  });
}

/** Lists all, and the top as a directory. */
async function lookAt(keys: readonly string[]): Promise<void> {
  const keyspace = keyspaceOf(keys);
  await keyspace.list({ limit: 1000 }, signal);
  await keyspace.children("", { limit: 1000 }, signal);
}

const times = (count: number, toKey: (at: number) => string) => Array.from({ length: count }, (_, at) => toKey(at));

const separators = (length: number) => times(20, (at) => `${at}${":".repeat(length - 3)}`);
const longParts = (length: number) => times(20, (at) => `${at}:`.padEnd(length / 100, "x").repeat(99));
const manyKeys = (count: number) => times(count, (at) => `${at}:p`.repeat(20));

describe("keys of redis are listed in linear time", () => {
  it.each([
    ["the number of their separators", separators, 8192],
    ["their length, with as many parts as are served", longParts, 8192],
    ["their number", manyKeys, 4096],
  ])("in %s", async (_, keys, maxLength) => {
    expect(await findGrowth((length) => () => lookAt(keys(length)), maxLength)).toBeUndefined();
  });
});
