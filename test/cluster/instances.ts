/** Instances of one server in a process, with real PostgreSQL and NATS, for tests. */
import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import { serverCaller } from "../../src/resources.ts";
import type { Source, SourceChange, SourceWatch } from "../../src/source.ts";
import { createMemory, type Memory } from "../../src/sources/memory.ts";
import type { Bus } from "../../src/state/bus.ts";
import type { Leases } from "../../src/state/leases.ts";
import { migrate } from "../../src/state/migrate.ts";
import { openBus } from "../../src/state/open-bus.ts";
import { openDatabase } from "../../src/state/open-database.ts";
import { createPostgresLeases } from "../../src/state/postgres-leases.ts";
import { stateMigrations } from "../../src/state/tables.ts";
import { testRuntime } from "../../src/state/test-buses.ts";
import { type NatsServer, startNats } from "../live/nats.ts";
import { type PostgresServer, startPostgres } from "../live/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../live/tcp-proxy.ts";

export interface Engines {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer | undefined;
  databaseUrl(schema: string, port?: number): string;
  busUrl(port?: number): string | undefined;
  close(): Promise<void>;
}

export async function startEngines(withNats: boolean): Promise<Engines> {
  const postgres = await startPostgres("npm", { settings: ["max_connections = 100"] });
  const nats = withNats ? await startNats() : undefined;
  return {
    postgres,
    nats,
    databaseUrl: (schema, port = postgres.port) =>
      `${postgres.url("postgres").replace(`:${postgres.port}/`, `:${port}/`)}?schema=${schema}`,
    busUrl: (port = nats?.port) => (nats ? `nats://127.0.0.1:${port}` : undefined),
    async close() {
      await nats?.close();
      await postgres.close();
    },
  };
}

export interface Instance {
  readonly id: string;
  readonly bus: Bus;
  readonly leases: Leases;
  /** Between the leases of this instance and PostgreSQL. */
  readonly leasesProxy: TcpProxy;
  /** Between its bus and the engine of the bus. */
  readonly busProxy: TcpProxy;
  readonly logged: string[];
  close(): Promise<void>;
}

export async function openInstance(engines: Engines, schema: string): Promise<Instance> {
  const logged: string[] = [];
  const runtime = testRuntime(logged);
  const direct = openDatabase({ url: engines.databaseUrl(schema), runtime });
  await migrate(direct, stateMigrations);
  await direct.close();
  const id = randomUUID();
  const leasesProxy = await startTcpProxy(engines.postgres.port);
  const busProxy = await startTcpProxy(engines.nats?.port ?? engines.postgres.port);
  const open = (proxy: TcpProxy) =>
    openDatabase({ url: engines.databaseUrl(schema, proxy.port), runtime, timeoutMs: 3000 });
  const [forLeases, forBus] = [open(leasesProxy), open(busProxy)];
  const database = engines.nats ? forLeases : forBus;
  const bus = await openBus({ url: engines.busUrl(busProxy.port), database, runtime, instance: id });
  const leases = createPostgresLeases({
    database: forLeases,
    instance: id,
    runtime,
    ttlMs: 2400,
    renewMs: 600,
    pollMs: 200,
  });
  return {
    id,
    bus,
    leases,
    leasesProxy,
    busProxy,
    logged,
    async close() {
      await leases.close();
      await bus.close();
      await Promise.all([forLeases.close(), forBus.close()]);
      await Promise.all([leasesProxy.close(), busProxy.close()]);
    },
  };
}

/** What all instances serve, and how many watch it. */
export interface Backend {
  readonly memory: Memory;
  readonly source: Source;
  readonly watching: number;
  /** The next attempts to watch throw this. */
  failure: Error | undefined;
  /** Ends the watches that run. */
  fail(cause: Error): void;
}

export function createBackend(): Backend {
  const memory = createMemory({ "a.txt": "first" });
  // An instance that closes must not end the watches of the others.
  const { close: _close, ...source } = memory.source;
  let watching = 0;
  const failing = new Set<(cause: Error) => void>();
  const backend: Backend = {
    memory,
    failure: undefined,
    get watching() {
      return watching;
    },
    fail(cause) {
      for (const each of failing) each(cause);
    },
    source: {
      ...source,
      async watch(call) {
        if (backend.failure) throw backend.failure;
        const inner = (await source.watch?.(call)) as SourceWatch;
        watching += 1;
        call.signal.addEventListener("abort", () => void (watching -= 1), { once: true });
        const broken = new Promise<never>((_, reject) => failing.add(reject));
        const changes = inner[Symbol.asyncIterator]();
        return { [Symbol.asyncIterator]: () => ({ next: () => Promise.race([changes.next(), broken]) }) };
      },
    },
  };
  return backend;
}

export interface WatchListener {
  /** Changes as texts: `changed a.txt`, `lost`. */
  readonly seen: string[];
  readonly stop: AbortController;
  /** The error of the watch, if it failed. */
  failure: unknown;
  until(change: string): Promise<void>;
}

/** Resolves when the watch is armed. */
export async function listen(source: Source): Promise<WatchListener> {
  const stop = new AbortController();
  const changes = await (source.watch as NonNullable<Source["watch"]>)({ caller: serverCaller, signal: stop.signal });
  const seen: string[] = [];
  const listener: WatchListener = {
    seen,
    stop,
    failure: undefined,
    until: (change) => vi.waitFor(() => expect(seen).toContain(change), { timeout: 40_000, interval: 5 }),
  };
  (async () => {
    for await (const change of changes) seen.push(textOf(change));
  })().catch((cause: unknown) => (listener.failure = cause));
  return listener;
}

function textOf(change: SourceChange): string {
  return change.kind === "lost" ? "lost" : `${change.kind} ${change.path}`;
}
