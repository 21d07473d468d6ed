/** Every kind of bus with its real engine, for tests. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { wait } from "../lib/wait.ts";
import type { Runtime } from "../runtime.ts";
import { natsMissing, startNats } from "../../test/live/nats.ts";
import { missingFor, startPostgres } from "../../test/live/postgres.ts";
import { signalFamily } from "../../test/live/signal-family.ts";
import { startTcpProxy, type TcpProxy } from "../../test/live/tcp-proxy.ts";
import type { Bus } from "./bus.ts";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { streamNames } from "./nats-connection.ts";
import { readServerId } from "./server-id.ts";
import { openBus } from "./open-bus.ts";
import { openDatabase } from "./open-database.ts";
import { stateMigrations } from "./tables.ts";

export interface BusEngine {
  /** A bus of another instance of the same server. Instances of another `schema` are another server. */
  open(schema: string): Promise<OpenedBus>;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Removes all stored messages. */
  forget(schema: string): Promise<void>;
  close(): Promise<void>;
}

export interface OpenedBus {
  readonly bus: Bus;
  /** Between this instance and the engine; absent for memory. */
  readonly proxy?: TcpProxy;
  readonly database?: SharedDatabase;
  /** What it logged. */
  readonly logged: string[];
  close(): Promise<void>;
}

export interface BusKind {
  readonly name: string;
  /** Why the engine cannot run here, as a sentence. */
  readonly missing?: string | undefined;
  /** Whether instances are connected through a network. */
  readonly isShared: boolean;
  start(): Promise<BusEngine>;
}

export const busKinds: readonly BusKind[] = [
  { name: "memory", isShared: false, start: startMemory },
  { name: "PostgreSQL 18", isShared: true, missing: missingFor("npm"), start: () => startDatabase("npm") },
  { name: "PostgreSQL 15", isShared: true, missing: missingFor("debian"), start: () => startDatabase("debian") },
  { name: "NATS", isShared: true, missing: natsMissing() ?? missingFor("npm"), start: startNatsEngine },
];

export function testRuntime(logged: string[] = []): Runtime {
  return {
    env: {},
    now: () => Date.now(),
    monotonicMs,
    wait,
    log: (level, message, facts) => void logged.push(`${level} ${message} ${String(facts?.["cause"] ?? "")}`),
  };
}

async function startMemory(): Promise<BusEngine> {
  const buses = new Map<string, Bus>();
  return {
    async open(schema) {
      const logged: string[] = [];
      const bus = buses.get(schema) ?? (await openBus({ runtime: testRuntime(logged), instance: "test" }));
      buses.set(schema, bus);
      return { bus, logged, close: () => bus.close() };
    },
    kill: async () => undefined,
    start: async () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    forget: async () => undefined,
    close: async () => undefined,
  };
}

async function startDatabase(flavour: "npm" | "debian"): Promise<BusEngine> {
  const server = await startPostgres(flavour, { settings: ["max_connections = 100"] });
  const urlAt = (port: number, schema: string): string =>
    `${server.url("postgres").replace(`:${server.port}/`, `:${port}/`)}?schema=${schema}`;
  const runtime = testRuntime();
  return {
    async open(schema) {
      const logged: string[] = [];
      const direct = openDatabase({ url: urlAt(server.port, schema), runtime });
      await migrate(direct, stateMigrations);
      await direct.close();
      const proxy = await startTcpProxy(server.port);
      const database = openDatabase({ url: urlAt(proxy.port, schema), runtime: testRuntime(logged), timeoutMs: 5000 });
      const bus = await openBus({ database, runtime: testRuntime(logged), instance: "test" });
      return {
        bus,
        proxy,
        database,
        logged,
        async close() {
          proxy.cut();
          await bus.close();
          await database.close();
          await proxy.close();
        },
      };
    },
    kill: () => server.stop("immediate"),
    start: () => server.start(),
    pause: () => signalFamily(mainProcess(server.folder), "SIGSTOP"),
    resume: () => signalFamily(mainProcess(server.folder), "SIGCONT"),
    forget: (schema) => server.run("postgres", `delete from ${schema}.changes`),
    close: () => server.close(),
  };
}

function mainProcess(folder: string): number {
  return Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]);
}

async function startNatsEngine(): Promise<BusEngine> {
  const password = randomUUID();
  const server = await startNats(`authorization { user: "pressmark", password: "${password}" }`);
  const postgres = await startPostgres("npm", { settings: ["max_connections = 100"] });
  const openSchema = (schema: string): SharedDatabase =>
    openDatabase({ url: `${postgres.url("postgres")}?schema=${schema}`, runtime: testRuntime(), maxConnections: 1 });
  return {
    async open(schema) {
      const logged: string[] = [];
      const proxy = await startTcpProxy(server.port);
      const database = openSchema(schema);
      await migrate(database, stateMigrations);
      const url = `nats://pressmark:${password}@127.0.0.1:${proxy.port}`;
      const bus = await openBus({ url, database, runtime: testRuntime(logged), instance: "test" });
      return {
        bus,
        proxy,
        logged,
        async close() {
          await bus.close();
          await database.close();
          await proxy.close();
        },
      };
    },
    kill: () => server.kill(),
    start: () => server.start(),
    pause: () => server.signal("SIGSTOP"),
    resume: () => server.signal("SIGCONT"),
    async forget(schema) {
      const { connect } = await import("@nats-io/transport-node");
      const { jetstreamManager } = await import("@nats-io/jetstream");
      const connection = await connect({ port: server.port, user: "pressmark", pass: password });
      await (await jetstreamManager(connection)).streams.purge(await streamOf(openSchema(schema)));
      await connection.close();
    },
    async close() {
      await server.close();
      await postgres.close();
    },
  };
}

/** The name of the stream in NATS. Closes the database. */
async function streamOf(database: SharedDatabase): Promise<string> {
  const id = await readServerId(database);
  await database.close();
  return streamNames(database.schema, id!).stream;
}
