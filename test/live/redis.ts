/** A real Redis server for tests: Debian's package, on a loopback port and in a folder of its own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { end, freePort, untilSaid } from "./processes.ts";

export const redisPackages = "redis-server";

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** A connection to the database, which `close` ends. It connects again after a restart. */
  client(database?: number): Redis;
  stop(): Promise<void>;
  /** At the same address, without the data; resolves once it answers. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function hasRedis(): boolean {
  return spawnSync("redis-server", ["--version"], { stdio: "ignore" }).error === undefined;
}

/** `settings` are arguments of redis-server. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-redis-"));
  const port = await freePort();
  const clients: Redis[] = [];
  let running: ChildProcess | undefined;

  async function start(): Promise<void> {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder];
    running = spawn("redis-server", [...fixed, ...settings], { stdio: ["ignore", "pipe", "pipe"] });
    await untilSaid("Ready to accept connections", running);
  }

  async function stop(): Promise<void> {
    const child = running;
    running = undefined;
    if (child) await end(child);
  }

  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return running!;
    },
    client(database = 0) {
      const client = new Redis({ port, host: "127.0.0.1", db: database });
      client.on("error", () => undefined);
      clients.push(client);
      return client;
    },
    start,
    stop,
    async close() {
      for (const client of clients) client.disconnect();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
